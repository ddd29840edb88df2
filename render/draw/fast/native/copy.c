/* Mobject.__deepcopy__, without asking for each attribute how it is to be copied. */
#include "lecture.h"

static PyObject *copy_mobject(PyObject *mobject, PyObject *memo);

static PyObject *remembered(PyObject *memo, PyObject *value) { /* borrowed, or NULL */
    PyObject *key = PyLong_FromVoidPtr(value);
    PyObject *found = key ? PyDict_GetItemWithError(memo, key) : NULL;
    Py_XDECREF(key);
    return found;
}

static int remember(PyObject *memo, PyObject *value, PyObject *copy) {
    PyObject *key = PyLong_FromVoidPtr(value);
    int result = key ? PyDict_SetItem(memo, key, copy) : -1;
    Py_XDECREF(key);
    return result;
}

static PyObject *copy_list(PyObject *list, PyObject *memo);

static PyObject *copy_value(PyObject *value, PyObject *memo) {
    PyObject *type = (PyObject *)Py_TYPE(value), *copy;
    int atomic = value == Py_None ? 1 : PySet_Contains(atomic_types, type);
    if (atomic) return atomic < 0 ? NULL : Py_NewRef(value);
    if ((copy = remembered(memo, value))) return Py_NewRef(copy);
    if (PyErr_Occurred()) return NULL;
    if (PyArray_CheckExact(value) && PyArray_TYPE((PyArrayObject *)value) != NPY_OBJECT) {
        copy = PyArray_NewCopy((PyArrayObject *)value, NPY_KEEPORDER);
    } else if (PyList_CheckExact(value)) {
        return copy_list(value, memo);
    } else {
        int flags = kind_of(value);
        if (flags < 0) return NULL;
        if (flags & STANDARD_COPY) return copy_mobject(value, memo);
        return PyObject_CallFunctionObjArgs(py_deepcopy, value, memo, NULL);
    }
    if (copy && remember(memo, value, copy) < 0) Py_CLEAR(copy);
    return copy;
}

static PyObject *copy_list(PyObject *list, PyObject *memo) {
    PyObject *copy = PyList_New(0);
    if (!copy || remember(memo, list, copy) < 0) { Py_XDECREF(copy); return NULL; }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        PyObject *item = copy_value(PyList_GET_ITEM(list, i), memo);
        if (!item || PyList_Append(copy, item) < 0) { Py_XDECREF(item); Py_DECREF(copy); return NULL; }
        Py_DECREF(item);
    }
    return copy;
}

static PyObject *copy_mobject(PyObject *mobject, PyObject *memo) {
    PyTypeObject *type = Py_TYPE(mobject);
    PyObject *nothing = PyTuple_New(0), *dict = dict_of(mobject), *key, *value;
    PyObject *copy = nothing && dict ? type->tp_new(type, nothing, NULL) : NULL;
    PyObject *there = copy ? PyDict_Copy(dict) : NULL, *target = copy ? dict_of(copy) : NULL;
    int failed = !there || !target || remember(memo, mobject, copy) < 0;
    for (Py_ssize_t at = 0; !failed && PyDict_Next(there, &at, &key, &value);) {
        PyObject *own = copy_value(value, memo);
        failed = !own || PyDict_SetItem(target, key, own) < 0;
        Py_XDECREF(own);
    }
    if (!failed) {
        PyObject *identity = PyLong_FromVoidPtr(mobject);
        PyObject *text = identity ? PyObject_Str(identity) : NULL;
        failed = !text || PyDict_SetItem(target, n_original_id, text) < 0;
        Py_XDECREF(identity);
        Py_XDECREF(text);
    }
    Py_XDECREF(nothing);
    Py_XDECREF(there);
    if (failed) Py_CLEAR(copy);
    return copy;
}

/* copy(mobject, memo) -> mobject. LookupError where manim's own way must be taken. */
PyObject *py_copy(PyObject *module, PyObject *args) {
    PyObject *mobject, *memo;
    if (!PyArg_ParseTuple(args, "OO!", &mobject, &PyDict_Type, &memo)) return NULL;
    int flags = kind_of(mobject);
    if (flags < 0) return NULL;
    if (!(flags & STANDARD_COPY)) return PyErr_Format(PyExc_LookupError, "its own way of copying");
    return copy_mobject(mobject, memo);
}
