/* Attributes of mobjects, and which classes behave as manim's own do. */
#include "lecture.h"

#define DEFINE(name) PyObject *n_##name;
NAMES(DEFINE)
PyObject *classify, *joint_map, *cap_map, *atomic_types, *py_deepcopy;
static PyObject *kinds; /* class -> flags */
enum { DEEPEST = 200 }; /* a family that goes further down may be within itself */

int intern_names(void) {
#define INTERN(name) if (!(n_##name = PyUnicode_InternFromString(#name))) return -1;
    NAMES(INTERN)
    return (kinds = PyDict_New()) ? 0 : -1;
}

int kind_of(PyObject *mobject) {
    PyObject *type = (PyObject *)Py_TYPE(mobject), *flags = PyDict_GetItemWithError(kinds, type);
    if (flags) return (int)PyLong_AsLong(flags);
    if (PyErr_Occurred() || !(flags = PyObject_CallOneArg(classify, type))) return -1;
    int result = (int)PyLong_AsLong(flags);
    if (PyErr_Occurred() || PyDict_SetItem(kinds, type, flags) < 0) result = -1;
    Py_DECREF(flags);
    return result;
}

PyObject *dict_of(PyObject *object) {
    PyObject *dict = PyObject_GenericGetDict(object, NULL);
    Py_XDECREF(dict); /* the object keeps it */
    if (!dict) PyErr_Clear();
    return dict;
}

PyObject *attribute(PyObject *object, PyObject *name) {
    PyObject *dict = dict_of(object);
    return dict ? PyDict_GetItem(dict, name) : NULL;
}

/* -- families ------------------------------------------------------------------------------ */

typedef struct { PyObject *seen, *found; int with_points; } Walk;

/* Backwards through the family, so that of a member that occurs twice the last place counts. */
static int walk(PyObject *mobject, Walk *state, int depth) {
    int flags = kind_of(mobject), there;
    if (flags < 0) return -1;
    if (!(flags & STANDARD_FAMILY) || depth > DEEPEST) {
        PyErr_SetString(PyExc_LookupError, "own family");
        return -1;
    }
    if ((there = PySet_Contains(state->seen, mobject)) != 0) return there < 0 ? -1 : 0;
    PyObject *children = attribute(mobject, n_submobjects);
    if (!children || !PyList_Check(children)) {
        PyErr_SetString(PyExc_LookupError, "no list of submobjects");
        return -1;
    }
    for (Py_ssize_t i = PyList_GET_SIZE(children) - 1; i >= 0; i--)
        if (walk(PyList_GET_ITEM(children, i), state, depth + 1) < 0) return -1;
    if (PySet_Add(state->seen, mobject) < 0) return -1;
    if (state->with_points) {
        PyObject *points = attribute(mobject, n_points);
        Py_ssize_t length = points ? PyObject_Length(points) : -1;
        if (length < 0) { PyErr_SetString(PyExc_LookupError, "no points"); return -1; }
        if (length == 0) return 0;
    }
    return PyList_Append(state->found, mobject);
}

/* family(mobjects, with_points) -> list. LookupError where manim's own way must be taken. */
PyObject *py_family(PyObject *module, PyObject *args) {
    PyObject *mobjects, *fast;
    Walk state = {NULL, NULL, 0};
    if (!PyArg_ParseTuple(args, "Op", &mobjects, &state.with_points)) return NULL;
    if (!(fast = PySequence_Fast(mobjects, "a list of mobjects is wanted"))) return NULL;
    state.seen = PySet_New(NULL);
    state.found = PyList_New(0);
    int failed = !state.seen || !state.found;
    for (Py_ssize_t i = PySequence_Fast_GET_SIZE(fast) - 1; i >= 0 && !failed; i--)
        failed = walk(PySequence_Fast_GET_ITEM(fast, i), &state, 0) < 0;
    failed = failed || PyList_Reverse(state.found) < 0;
    Py_DECREF(fast);
    Py_XDECREF(state.seen);
    if (failed) Py_CLEAR(state.found);
    return state.found;
}

/* flat(mobjects) -> bool: whether they all have one z_index, so that sorting changes nothing. */
PyObject *py_flat(PyObject *module, PyObject *mobjects) {
    double first = 0;
    if (!PyList_Check(mobjects)) return PyErr_Format(PyExc_TypeError, "a list is wanted");
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(mobjects); i++) {
        PyObject *value = attribute(PyList_GET_ITEM(mobjects, i), n_z_index);
        double depth = value ? PyFloat_AsDouble(value) : -1;
        if (PyErr_Occurred()) return NULL;
        if (!value) Py_RETURN_FALSE;
        if (!i) first = depth;
        if (depth != first) Py_RETURN_FALSE;
    }
    Py_RETURN_TRUE;
}
