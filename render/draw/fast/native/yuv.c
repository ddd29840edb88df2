/* RGBA to BT.709 limited-range 4:2:0, chroma sited at the left: only where pixels changed. */
#include "lecture.h"

typedef struct { const unsigned char *rgba; unsigned char *y, *u, *v; int width, height; } Planes;

static void luma(const Planes *p, int row, int from, int to) {
    const unsigned char *in = p->rgba + 4 * ((size_t)row * p->width + from);
    unsigned char *out = p->y + (size_t)row * p->width + from;
    for (int x = from; x < to; x++, in += 4)
        *out++ = (11966 * in[0] + 40254 * in[1] + 4064 * in[2] + (16 << 16) + 32768) >> 16;
}

/* Weights 1 2 1 across, 1 1 down. `row` and columns count chroma samples. */
static void chroma(const Planes *p, int row, int from, int to) {
    size_t stride = 4 * (size_t)p->width, place = (size_t)row * (p->width / 2);
    const unsigned char *top = p->rgba + 2 * row * stride, *low = top + stride;
    for (int x = from; x < to; x++) {
        int at = 8 * x, left = x ? at - 4 : at, sum[3];
        for (int c = 0; c < 3; c++)
            sum[c] = top[left + c] + low[left + c] + 2 * (top[at + c] + low[at + c]) +
                     top[at + 4 + c] + low[at + 4 + c];
        int half = (128 << 19) + (1 << 18);
        p->u[place + x] = (-6596 * sum[0] - 22189 * sum[1] + 28785 * sum[2] + half) >> 19;
        p->v[place + x] = (28785 * sum[0] - 26145 * sum[1] - 2640 * sum[2] + half) >> 19;
    }
}

static void convert(const Planes *p, const unsigned char *changed) {
    int across = (p->width + TILE - 1) / TILE, down = (p->height + TILE - 1) / TILE;
    for (int ty = 0; ty < down; ty++)
        for (int tx = 0; tx < across; tx++) {
            if (!changed[ty * across + tx]) continue;
            int end = tx + 1;
            while (end < across && changed[ty * across + end]) end++;
            int left = tx * TILE, right = end * TILE < p->width ? end * TILE : p->width;
            int top = ty * TILE, bottom = top + TILE < p->height ? top + TILE : p->height;
            int last = right / 2 < p->width / 2 ? right / 2 + 1 : p->width / 2;
            for (int row = top; row < bottom; row++) luma(p, row, left, right);
            for (int row = top / 2; row < bottom / 2; row++) chroma(p, row, left / 2, last);
            tx = end;
        }
}

/* to_yuv(frame, changed, planes): bring the planes of a whole picture up to date. */
PyObject *py_to_yuv(PyObject *module, PyObject *args) {
    PyArrayObject *frame, *changed, *planes;
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyArray_Type, &frame, &PyArray_Type, &changed,
                          &PyArray_Type, &planes))
        return NULL;
    int height = (int)PyArray_DIM(frame, 0), width = (int)PyArray_DIM(frame, 1);
    npy_intp size = (npy_intp)height * width;
    npy_intp tiles = (npy_intp)((width + TILE - 1) / TILE) * ((height + TILE - 1) / TILE);
    if (height % 2 || width % 2 || PyArray_NBYTES(frame) != 4 * size ||
        !PyArray_IS_C_CONTIGUOUS(frame) || PyArray_NBYTES(planes) != size * 3 / 2 ||
        PyArray_NBYTES(changed) != tiles)
        return PyErr_Format(PyExc_ValueError, "a frame, its tiles and its planes are wanted");
    unsigned char *y = PyArray_DATA(planes);
    Planes p = {PyArray_DATA(frame), y, y + size, y + size * 5 / 4, width, height};
    const unsigned char *tile_map = PyArray_DATA(changed);
    Py_BEGIN_ALLOW_THREADS
    convert(&p, tile_map);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}
