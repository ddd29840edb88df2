/* Mobject.interpolate and VMobject.interpolate_color for a whole family at once. */
#include "lecture.h"

static int plain_array(PyObject *value) {
    return PyArray_CheckExact(value) && PyArray_TYPE((PyArrayObject *)value) == NPY_DOUBLE &&
           PyArray_ISCARRAY_RO((PyArrayObject *)value);
}

/* (1 - alpha) * start + alpha * end, in the same order of operations. New reference. */
static PyObject *between(PyObject *start, PyObject *end, double alpha) {
    double rest = 1 - alpha;
    if (plain_array(start) && plain_array(end)) {
        PyArrayObject *a = (PyArrayObject *)start, *b = (PyArrayObject *)end;
        if (PyArray_SAMESHAPE(a, b)) {
            PyObject *result = PyArray_SimpleNew(PyArray_NDIM(a), PyArray_DIMS(a), NPY_DOUBLE);
            if (!result) return NULL;
            double *to = PyArray_DATA((PyArrayObject *)result);
            const double *from = PyArray_DATA(a), *into = PyArray_DATA(b);
            for (npy_intp i = PyArray_SIZE(a); i > 0; i--, to++, from++, into++) {
                double first = rest * *from, second = alpha * *into;
                *to = first + second;
            }
            return result;
        }
    }
    PyObject *one = PyFloat_FromDouble(rest), *two = PyFloat_FromDouble(alpha), *sum = NULL;
    PyObject *first = one ? PyNumber_Multiply(one, start) : NULL;
    PyObject *second = two ? PyNumber_Multiply(two, end) : NULL;
    if (first && second) sum = PyNumber_Add(first, second);
    Py_XDECREF(one);
    Py_XDECREF(two);
    Py_XDECREF(first);
    Py_XDECREF(second);
    return sum;
}

static int set_between(PyObject *dict, PyObject *from, PyObject *into, PyObject *name,
                       double alpha, int exact_end) {
    PyObject *start = PyDict_GetItem(from, name), *end = PyDict_GetItem(into, name), *value;
    if (!start || !end) {
        PyErr_Format(PyExc_AttributeError, "a mobject has no %U", name);
        return -1;
    }
    if (!exact_end || alpha != 1.0)
        value = between(start, end, alpha);
    else if (PyArray_Check(end))
        value = PyArray_NewCopy((PyArrayObject *)end, NPY_CORDER);
    else
        value = Py_NewRef(end);
    int result = value ? PyDict_SetItem(dict, name, value) : -1;
    Py_XDECREF(value);
    return result;
}

static int one(PyObject *mobject, PyObject *start, PyObject *end, double alpha) {
    PyObject *names[] = {n_fill_rgbas, n_stroke_rgbas, n_background_stroke_rgbas, n_stroke_width,
                         n_background_stroke_width, n_sheen_direction, n_sheen_factor};
    PyObject *dict = dict_of(mobject), *from = dict_of(start), *into = dict_of(end);
    if (!dict || !from || !into || set_between(dict, from, into, n_points, alpha, 0) < 0) return -1;
    for (int i = 0; i < 7; i++)
        if (set_between(dict, from, into, names[i], alpha, 1) < 0) return -1;
    return 0;
}

/* interpolate(mobjects, starts, ends, alphas): lists; of alphas, one may serve for all.
 * LookupError, before anything is done, where manim's own way must be taken. */
PyObject *py_interpolate(PyObject *module, PyObject *args) {
    PyObject *lists[4];
    if (!PyArg_ParseTuple(args, "O!O!O!O!", &PyList_Type, lists, &PyList_Type, lists + 1,
                          &PyList_Type, lists + 2, &PyList_Type, lists + 3))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(lists[0]), alphas = PyList_GET_SIZE(lists[3]);
    int good = PyList_GET_SIZE(lists[1]) == count && PyList_GET_SIZE(lists[2]) == count &&
               (alphas == count || alphas == 1);
    for (Py_ssize_t i = 0; i < 3 * count && good; i++) {
        int flags = kind_of(PyList_GET_ITEM(lists[i / count], i % count));
        if (flags < 0) return NULL;
        good = flags & STANDARD_INTERPOLATION;
    }
    if (!good) return PyErr_Format(PyExc_LookupError, "mobjects with ways of their own");
    for (Py_ssize_t i = 0; i < count; i++) {
        double alpha = PyFloat_AsDouble(PyList_GET_ITEM(lists[3], alphas == 1 ? 0 : i));
        if (PyErr_Occurred() || one(PyList_GET_ITEM(lists[0], i), PyList_GET_ITEM(lists[1], i),
                                    PyList_GET_ITEM(lists[2], i), alpha) < 0)
            return NULL;
    }
    Py_RETURN_NONE;
}
