/* Stands for libjbig in the wheel: Debian's libtiff links it, but its license, GPL, is not one for
 * a library that products embed. Decoding a TIFF image with JBIG compression fails with an error;
 * libtiff calls nothing else of it. */
#include <stddef.h>

enum { NOT_HERE = 1 }; /* any status but 0 makes libtiff refuse the image */

void jbg_dec_init(void* decoder) { (void)decoder; }
void jbg_dec_free(void* decoder) { (void)decoder; }
int jbg_dec_in(void* decoder, unsigned char* data, size_t length, size_t* read) {
  (void)decoder, (void)data, (void)length;
  if (read != NULL) *read = 0;
  return NOT_HERE;
}
long jbg_dec_getsize(const void* decoder) { return (void)decoder, 0; }
unsigned char* jbg_dec_getimage(const void* decoder, int plane) {
  return (void)decoder, (void)plane, NULL;
}
int jbg_newlen(unsigned char* data, size_t length) { return (void)data, (void)length, NOT_HERE; }
const char* jbg_strerror(int status) { return (void)status, "this package has no decoder of JBIG"; }
void jbg_enc_init(void* encoder, unsigned long width, unsigned long height, int planes,
                  unsigned char** data, void (*write)(unsigned char*, size_t, void*), void* file) {
  (void)encoder, (void)width, (void)height, (void)planes, (void)data, (void)write, (void)file;
}
void jbg_enc_out(void* encoder) { (void)encoder; }
void jbg_enc_free(void* encoder) { (void)encoder; }
