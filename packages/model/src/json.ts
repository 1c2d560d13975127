/** A JSON value as `JSON.parse` gives it. Values are never mutated: what did not change keeps its identity. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** Members in input order. May have own members named `__proto__` or `constructor`: never copy with `o[k] = v`, use the functions here. */
export type JsonObject = { readonly [member: string]: Json }
