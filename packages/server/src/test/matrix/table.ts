/** One row of a table that is written as text: its label, and its cells by the name of their column. */
export interface Row {
  readonly label: string
  readonly cells: Readonly<Record<string, string>>
}

/**
 * Reads a table as it stands in a test: a head line of column names, then a line per row, everything set apart by two blanks or more. Throws
 * when a row has not exactly one cell per column, so that none is missing by mistake.
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
