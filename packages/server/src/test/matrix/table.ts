/** One row of a table in text form: its label, and its cells by the names of their columns. */
export interface Row {
  readonly label: string
  readonly cells: Readonly<Record<string, string>>
}

/**
 * Reads a table in text form: a head line with column names, then a line per row, with two or more blanks between cells. Throws when a row does
 * not have exactly one cell per column, so that no cell is missing by mistake.
 */
export function readTable(text: string): readonly Row[] {
  const [head = [], ...lines] = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.trim().split(/ {2,}/))
  return lines.map(([label = '', ...cells]) => {
    if (cells.length !== head.length) throw new Error(`${label} has ${cells.length} cells for ${head.length} columns`)
    return { label, cells: Object.fromEntries(head.map((column, at) => [column, cells[at] ?? ''])) }
  })
}
