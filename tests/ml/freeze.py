"""Fits small models with scikit-learn, writes each as one node, and records the outputs of scikit-learn and ONNX
Runtime.

The tests need neither package, since they read answers.json. To regenerate it where scikit-learn, onnx and onnxruntime
are installed:

    python -m tests.ml.freeze
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import onnxruntime
import sklearn
from sklearn import feature_extraction, impute, linear_model, preprocessing, svm

from tests.ml.data import (
    BINARY,
    CLASS,
    HOLES,
    KERNEL_PARAMS,
    PARAMS,
    TARGET,
    TEST,
    Record,
    X,
    floats,
    record,
    single,
    value,
)
from tests.ml.forests import trees
from tests.ml.nodes import feed, model_of

OUT = Path(__file__).parent / "answers.json"


def simple() -> list[Record]:
    x = single(TEST)
    scaler = preprocessing.StandardScaler().fit(X)
    scaler.mean_ = scaler.mean_.astype(np.float32).astype(float)
    times = (1 / scaler.scale_).astype(np.float32)
    scaler.scale_ = 1 / times.astype(float)
    several = linear_model.LinearRegression().fit(X, np.stack([TARGET, TARGET * 2 - 1], axis=1))
    several.coef_, several.intercept_ = (
        a.astype(np.float32).astype(float) for a in (several.coef_, several.intercept_)
    )
    imputer = impute.SimpleImputer().fit(np.where(X > 1.5, np.nan, X))
    imputer.statistics_ = imputer.statistics_.astype(np.float32).astype(float)
    codes = preprocessing.OneHotEncoder(sparse_output=False, handle_unknown="ignore").fit([["b"], ["a"], ["c"]])
    words = [["a"], ["z"], ["c"], ["b"]]
    labels = preprocessing.LabelEncoder().fit(["lion", "ant", "owl"])
    rows = feature_extraction.DictVectorizer(sparse=False).fit([{"b": 1.0, "a": 2.0, "c": 3.0}])
    return [
        record(
            "binarizer",
            "Binarizer",
            1,
            {"threshold": 0.25},
            [x],
            [single(preprocessing.Binarizer(threshold=0.25).transform(TEST))],
        ),
        record(
            "scaler",
            "Scaler",
            1,
            {"offset": floats(scaler.mean_), "scale": floats(times)},
            [x],
            [single(scaler.transform(TEST.astype(float)))],
        ),
        *(
            record(
                f"normalizer_{norm}",
                "Normalizer",
                1,
                {"norm": norm.upper()},
                [x],
                [single(preprocessing.normalize(TEST.astype(float), norm))],
            )
            for norm in ("l1", "l2")
        ),
        record(
            "normalizer_max",
            "Normalizer",
            1,
            {},
            [single(np.abs(TEST))],
            [single(preprocessing.normalize(np.abs(TEST).astype(float), "max"))],
        ),
        record(
            "linear_regression",
            "LinearRegressor",
            1,
            {"coefficients": floats(several.coef_), "intercepts": floats(several.intercept_), "targets": 2},
            [x],
            [single(several.predict(TEST.astype(float)))],
        ),
        record(
            "imputer",
            "Imputer",
            1,
            {"imputed_value_floats": floats(imputer.statistics_), "replaced_value_float": float("nan")},
            [single(HOLES)],
            [single(imputer.transform(HOLES.astype(float)))],
        ),
        record(
            "one_hot",
            "OneHotEncoder",
            1,
            {"cats_strings": list(codes.categories_[0])},
            [value(words, "string")],
            [single(codes.transform(words).reshape(4, 1, 3))],
        ),
        record(
            "label_encoder",
            "LabelEncoder",
            2,
            {"keys_strings": list(labels.classes_), "values_int64s": [0, 1, 2]},
            [value(["owl", "ant"], "string")],
            [value(labels.transform(["owl", "ant"]), "int64")],
        ),
        record(
            "label_decoder",
            "LabelEncoder",
            1,
            {"classes_strings": list(labels.classes_)},
            [value([2, 0], "int64")],
            [value(labels.inverse_transform([2, 0]), "string")],
        ),
        record(
            "dict_vectorizer",
            "DictVectorizer",
            1,
            {"string_vocabulary": list(rows.get_feature_names_out())},
            [{"type": "map(string,float)", "data": {"c": 0.5, "a": 2.0}}],
            [single(rows.transform([{"c": 0.5, "a": 2.0}])[0])],
            departs="Q068",
        ),
    ]


def linear_classifiers() -> list[Record]:
    made = []
    three = linear_model.LogisticRegression().fit(X, CLASS)
    two = linear_model.LogisticRegression().fit(X, BINARY)
    for name, model, how in (("three_classes", three, "SOFTMAX"), ("two_classes", two, "LOGISTIC")):
        model.coef_, model.intercept_ = (a.astype(np.float32).astype(float) for a in (model.coef_, model.intercept_))
        labels = model.predict(TEST.astype(float)) + 10
        attributes = {
            "coefficients": floats(model.coef_),
            "intercepts": floats(model.intercept_),
            "post_transform": how,
            "classlabels_ints": [int(c) + 10 for c in model.classes_],
        }
        made.append(
            record(
                f"logistic_{name}",
                "LinearClassifier",
                1,
                attributes,
                [single(TEST)],
                [value(labels, "int64"), single(model.predict_proba(TEST.astype(float)))],
            )
        )
    return made


def machines() -> list[Record]:
    made, x = [], single(TEST)
    for kernel in ("linear", "poly", "rbf", "sigmoid"):
        common = {"kernel_type": kernel.upper(), "kernel_params": KERNEL_PARAMS}
        regressor = svm.SVR(kernel=kernel, **PARAMS).fit(X[:40], TARGET[:40])
        alone = svm.OneClassSVM(kernel=kernel, **PARAMS).fit(X[:40])
        for name, model, said, flag in (
            ("regressor", regressor, regressor.predict(TEST), 0),
            ("one_class", alone, alone.predict(TEST), 1),
        ):
            attributes = {
                **common,
                "support_vectors": floats(model.support_vectors_),
                "coefficients": floats(model.dual_coef_),
                "rho": floats(model.intercept_),
                "n_supports": len(model.support_vectors_),
                "one_class": flag,
            }
            made.append(
                record(f"svm_{name}_{kernel}", "SVMRegressor", 1, attributes, [x], [single(said.reshape(-1, 1))])
            )
        for name, target in (("three", CLASS), ("two", BINARY)):
            model = svm.SVC(kernel=kernel, decision_function_shape="ovo", **PARAMS).fit(X[:40], target[:40])
            scores = model.decision_function(TEST)
            attributes = {
                **common,
                "support_vectors": floats(model.support_vectors_),
                "coefficients": floats(model._dual_coef_),
                "rho": floats(model._intercept_),
                "vectors_per_class": [int(n) for n in model.n_support_],
                "classlabels_strings": [f"c{c}" for c in model.classes_],
            }
            shown = (
                scores if scores.ndim == 2 else np.stack([scores, -scores], axis=1)
            )  # scikit-learn negates the score of a pair
            labels = [f"c{c}" for c in model.predict(TEST)]
            made.append(
                record(
                    f"svm_{name}_{kernel}",
                    "SVMClassifier",
                    1,
                    attributes,
                    [x],
                    [value(labels, "string"), single(shown)],
                )
            )
    return [*made, machine_with_shares()]


def machine_with_shares() -> Record:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn deprecates LIBSVM's probabilities, but models with them remain
        model = svm.SVC(kernel="rbf", probability=True, random_state=0, **PARAMS).fit(X[:40], CLASS[:40])
        attributes = {
            "kernel_type": "RBF",
            "kernel_params": KERNEL_PARAMS,
            "support_vectors": floats(model.support_vectors_),
            "coefficients": floats(model._dual_coef_),
            "rho": floats(model._intercept_),
            "prob_a": floats(model.probA_),
            "prob_b": floats(model.probB_),
            "vectors_per_class": [int(n) for n in model.n_support_],
            "classlabels_ints": [int(c) for c in model.classes_],
        }
        said = [value(model.predict(TEST), "int64"), single(model.predict_proba(TEST))]
    return record("svm_with_shares", "SVMClassifier", 1, attributes, [single(TEST)], said)


def answer(each: Record) -> list[Record] | None:
    """ONNX Runtime's outputs, or None if it refuses the model."""
    model = model_of(each)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        results = session.run(None, {f"in_{k}": feed(one) for k, one in enumerate(each["inputs"])})
    except Exception:
        return None
    return [value(result, said["type"]) for result, said in zip(results, each["scikit-learn"], strict=True)]


def main() -> None:
    records = [*simple(), *linear_classifiers(), *machines(), *trees()]
    for each in records:
        each["onnxruntime"] = answer(each)
    sources = {"scikit-learn": sklearn.__version__, "onnxruntime": onnxruntime.__version__}
    rows = ",\n".join(json.dumps(each, sort_keys=True) for each in records)
    OUT.write_text(f'{{"sources": {json.dumps(sources)}, "nodes": [\n{rows}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
