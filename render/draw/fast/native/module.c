/* The module lecture_native: what render/draw/fast asks of compiled code. */
#define LECTURE_MAIN
#include "lecture.h"

/* setup(library of cairo, classify, joints, caps, atomic types, copy.deepcopy) */
static PyObject *setup(PyObject *module, PyObject *args) {
    const char *library;
    PyObject *given[5];
    if (!PyArg_ParseTuple(args, "sOO!O!OO", &library, given, &PyDict_Type, given + 1, &PyDict_Type,
                          given + 2, given + 3, given + 4) || load_cairo(library) < 0)
        return NULL;
    PyObject **kept[5] = {&classify, &joint_map, &cap_map, &atomic_types, &py_deepcopy};
    for (int i = 0; i < 5; i++) Py_XSETREF(*kept[i], Py_NewRef(given[i]));
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"setup", setup, METH_VARARGS, "Must come first."},
    {"family", py_family, METH_VARARGS, "family(mobjects, with_points) -> list"},
    {"flat", py_flat, METH_O, "Whether all mobjects have one z_index."},
    {"copy", py_copy, METH_VARARGS, "copy(mobject, memo) -> mobject"},
    {"interpolate", py_interpolate, METH_VARARGS, "interpolate(mobjects, starts, ends, alphas)"},
    {"to_yuv", py_to_yuv, METH_VARARGS, "to_yuv(frame, changed, planes)"},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "lecture_native", NULL, -1, functions};

PyMODINIT_FUNC PyInit_lecture_native(void) {
    import_array();
    if (intern_names() < 0 || PyType_Ready(&CanvasType) < 0) return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (!module || PyModule_AddObjectRef(module, "Canvas", (PyObject *)&CanvasType) < 0 ||
        PyModule_AddIntConstant(module, "TILE", TILE) < 0)
        return NULL;
    return module;
}
