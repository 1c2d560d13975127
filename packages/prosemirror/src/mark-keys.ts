import type { Mark, Schema } from 'prosemirror-model'

/**
 * Returns the mark that a formatting key of a Y.XmlText stands for, `null` for an unknown one. A mark that may occur twice on the same
 * text is stored under its name, two hyphens and 8 characters that tell the two apart.
 */
export function markOfKey(schema: Schema, key: string, value: unknown): Mark | null {
  const type = schema.marks[key] ?? schema.marks[key.replace(/--[A-Za-z0-9+/=]{8}$/, '')]
  return type?.create(typeof value === 'object' ? (value as Record<string, unknown> | null) : null) ?? null
}
