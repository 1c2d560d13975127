import { writeInline } from './markdown-inline-writer.ts'
import type { ProseElement, ProseTree } from './node.ts'

/**
 * Writes a table that Markdown can express: one row of header cells followed by rows of cells, one alignment per column, one paragraph per
 * cell. Returns `undefined` for any other table. [PROSE-28, PROSE-38] `comment` is put before the text of a cell. [AG-12]
 */
export function markdownTable(
  table: ProseElement,
  comment?: (text: ProseElement, row: number, column: number) => string,
): string | undefined {
  const rows = table.content as ProseTree
  const aligns = ((rows[0]?.content ?? []) as ProseTree).map((cell) => cell.attrs['align'])
  const lines: string[] = []
  for (const [index, row] of rows.entries()) {
    const cells = row.content as ProseTree
    if (cells.length !== aligns.length) return undefined
    let line = '|'
    for (const [column, cell] of cells.entries()) {
      const isPlaced = cell.type === (index === 0 ? 'tableHeader' : 'tableCell') && cell.attrs['align'] === aligns[column]
      const text = isPlaced ? cellText(cell) : undefined
      if (text === undefined) return undefined
      const named = comment === undefined ? text : `${comment(cell.content[0] as ProseElement, index, column)} ${text}`.trimEnd()
      line += named === '' ? '  |' : ` ${named} |`
    }
    lines.push(line)
    if (index === 0) lines.push(`|${aligns.map((align) => ` ${rules[String(align)] ?? '---'} |`).join('')}`)
  }
  return lines.join('\n')
}

const rules: { readonly [align: string]: string } = { left: ':--', center: ':-:', right: '--:' }

function cellText(cell: ProseElement): string | undefined {
  if (Object.keys(cell.attrs).some((name) => name !== 'align') || cell.content.length !== 1) return undefined
  const [only] = cell.content as ProseTree
  if (only?.type !== 'paragraph' || only.attrs['textAlign'] !== undefined) return undefined
  return writeInline(only.content, { kind: 'cell' })
}
