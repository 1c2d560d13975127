/** The line, from 1, of each table (`server`) and key (`server.port`). */
export type TomlLines = ReadonlyMap<string, number>

const TABLE = /^\s*\[\s*([A-Za-z0-9_.-]+)\s*\]/
const KEY = /^\s*([A-Za-z0-9_-]+(?:\s*\.\s*[A-Za-z0-9_-]+)*)\s*=(.*)$/
const FENCES = ['"""', "'''"]

/**
 * Finds the lines of tables and keys in a valid TOML file, which the parser does not report. Only keys written as one
 * bare key on a line are found; quoted keys and inline tables are not.
 */
export function tomlLines(text: string): TomlLines {
  const lines = new Map<string, number>()
  let table = ''
  let fence: string | null = null
  for (const [index, line] of text.split('\n').entries()) {
    if (fence !== null) {
      if (line.includes(fence)) fence = null
      continue
    }
    const header = TABLE.exec(line)?.[1]
    const [, key, value = ''] = KEY.exec(line) ?? []
    if (header !== undefined) table = header
    const path = header ?? (key === undefined ? undefined : `${table}.${key.replaceAll(/\s/g, '')}`.replace(/^\./, ''))
    if (path !== undefined && !lines.has(path)) lines.set(path, index + 1)
    fence = FENCES.find((mark) => value.trimStart().startsWith(mark) && value.split(mark).length === 2) ?? null
  }
  return lines
}
