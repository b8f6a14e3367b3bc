// Functions of the kernel that Python calls as it calls its own.
//
// By way of ctypes a call takes longer than what there is to be done for a small block, most of all
// between two handlers, where nothing is in the caches. What it takes is in Python's stable
// interface, and is handed over at run time: the kernel is linked with no Python, so that one
// serves all versions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "journal_block.hpp"

namespace worldline {

using PyObject = void;  // which nobody looks into

// What is called of Python, in the order in which engine/native/calls.py has it.
struct PythonCalls {
    void* (*address_of)(PyObject* number);
    PyObject* (*number_of)(long long number);
    int (*bytes_of)(PyObject* bytes, const uint8_t** first, intptr_t* size);
    intptr_t (*length_of)(PyObject* list);
    PyObject* (*item_of)(PyObject* list, intptr_t at);
};

inline PythonCalls python{};

struct Bytes {
    const uint8_t* first = nullptr;
    intptr_t size = 0;

    // Returns whether it is the bytes of an object; if not, Python has an error.
    bool are(PyObject* object) { return python.bytes_of(object, &first, &size) == 0; }
};

// Writes the block of a turn of packets, which are in a list; says `kTooLarge`, without having done
// anything, if there is no room for them.
inline PyObject* call_packets(PyObject* file, PyObject* list) {
    auto* const journal = static_cast<JournalFile*>(python.address_of(file));
    const intptr_t count = python.length_of(list);
    if (count < 0) return nullptr;
    Bytes next, all;
    for (intptr_t at = 0; at < count; ++at) {
        if (!next.are(python.item_of(list, at))) return nullptr;
        if (all.size + next.size > journal->most) return python.number_of(kTooLarge);
        if (count == 1) {
            all = next;
        } else {
            std::memcpy(journal->packets + all.size, next.first, static_cast<size_t>(next.size));
            all = {journal->packets, all.size + next.size};
        }
    }
    return python.number_of(write_packets(*journal, all.first, static_cast<size_t>(all.size)));
}

// Writes the block of a turn of records.
inline PyObject* call_records(PyObject* file, PyObject* records, bool is_shared, bool may_stay) {
    Bytes all;
    if (!all.are(records)) return nullptr;
    auto* const journal = static_cast<JournalFile*>(python.address_of(file));
    const auto size = static_cast<size_t>(all.size);
    return python.number_of(write_records(*journal, all.first, size, is_shared, may_stay));
}

}  // namespace worldline
