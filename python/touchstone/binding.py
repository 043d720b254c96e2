"""IOBinding: a session's inputs and outputs, bound to memory once and run many times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from touchstone import _native, values
from touchstone.devices import require_processor
from touchstone.errors import RuntimeException
from touchstone.ortvalue import OrtValue, OrtValueVector, at_address

if TYPE_CHECKING:
    from touchstone.session import InferenceSession


class IOBinding:
    """Inputs and outputs of runs by InferenceSession.run_with_iobinding.

    An input's memory is read at each run. An output is written to the memory bound to it, or to new memory.
    """

    def __init__(self, session: InferenceSession):
        self._session = session
        self._inputs: dict[str, Any] = {}
        self._outputs: dict[str, np.ndarray | None] = {}
        self._results: OrtValueVector = OrtValueVector()

    def _require(self, name: str, known: Any) -> None:
        if name not in known:
            there = ", ".join(f"'{each}'" for each in known) or "none"
            raise RuntimeException("usage", f"the model has no '{name}' to bind; there are {there}")

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        """Binds an array, which is read at each run."""
        self._require(name, self._session._inputs)
        self._inputs[name] = arr_on_cpu

    def bind_input(
        self, name: str, device_type: str, device_id: int, element_type: Any, shape: Any, buffer_ptr: int
    ) -> None:
        """Binds the caller's memory at an address, which is read at each run."""
        require_processor(device_type)
        self.bind_cpu_input(name, at_address(buffer_ptr, element_type, shape))

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        self.bind_cpu_input(name, ortvalue.numpy())

    def synchronize_inputs(self) -> None:
        """Does nothing: memory of the processor needs no waiting for."""

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type: Any = None,
        shape: Any = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """Binds an output to the caller's memory at an address, or, without one, to new memory at each run."""
        require_processor(device_type)
        self._require(name, self._session._outputs)
        if buffer_ptr is None:
            self._outputs[name] = None
            return
        if element_type is None or shape is None:
            raise RuntimeException("usage", "memory is bound with its element_type and shape")
        self._outputs[name] = at_address(buffer_ptr, element_type, shape)

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Binds an output to a tensor's memory."""
        self._require(name, self._session._outputs)
        array = ortvalue._array
        if not array.flags.writeable:
            raise RuntimeException("usage", f"the memory bound to '{name}' is read-only")
        self._outputs[name] = array

    def synchronize_outputs(self) -> None:
        """Does nothing: outputs are there when a run returns."""

    def get_outputs(self) -> list[OrtValue]:
        """Returns the outputs of the last run in the order in which they were bound."""
        return list(self._results)

    def get_outputs_as_ortvaluevector(self) -> OrtValueVector:
        return self._results

    def copy_outputs_to_cpu(self) -> list[Any]:
        """Returns copies of the last run's outputs as arrays."""
        return [np.array(each.numpy()) if each.is_tensor() else each.numpy() for each in self._results]

    def clear_binding_inputs(self) -> None:
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        self._outputs.clear()
        self._results = OrtValueVector()

    def run(self, stop: _native.Stop | None) -> None:
        """Runs the session on the bound memory. Raises Error if an output does not fit the memory bound to it."""
        if not self._outputs:
            raise RuntimeException("usage", "no output is bound", help="bind_output(name) takes new memory")
        made = self._session._native_run(list(self._outputs), self._inputs, stop)
        results = OrtValueVector()
        for (name, array), value in zip(self._outputs.items(), made, strict=True):
            results.append(_written(name, array, value))
        self._results = results


def _written(name: str, array: np.ndarray | None, value: _native.Value) -> OrtValue:
    if array is None:
        return OrtValue(values.taken(value), str(value.type))
    bound = OrtValue(array)
    if bound.data_type() != str(value.type) or list(array.shape) != value.shape:
        said = f"'{name}' is a {value.type} of shape {value.shape}, but memory is bound for a {bound.data_type()} of"
        raise RuntimeException("usage", f"{said} shape {list(array.shape)}")
    values.fill(array, value)
    return bound
