import { findMarkSpec, markRank, nodeSpec } from '../schema.ts'
import { equalMarks, equalValues } from '../equal.ts'
import type { ProseElement, ProseNode, ProseTree } from '../node.ts'

/** Returns the violations of the content model in a page. Written from the tables alone, without the healing code. [PROSE-2] */
export function violations(tree: ProseTree): readonly string[] {
  const found: string[] = []
  if (tree.length === 0) found.push('page: empty')
  for (const block of tree) check(block, 1, found, blocks)
  return found
}

const blocks = [
  'paragraph',
  'heading',
  'codeBlock',
  'blockquote',
  'bulletList',
  'orderedList',
  'taskList',
  'callout',
  'figure',
  'gallery',
  'table',
  'image',
  'horizontalRule',
  'mathBlock',
  'bibliography',
  'embeddedGroup',
]
const inlines = ['text', 'hardBreak', 'mathInline', 'citationInline', 'fieldRef', 'fileRef']

const allowed: { readonly [type: string]: readonly string[] } = {
  paragraph: inlines,
  heading: inlines,
  figcaption: inlines,
  codeBlock: ['text'],
  blockquote: blocks,
  callout: blocks,
  tableCell: blocks,
  tableHeader: blocks,
  listItem: blocks,
  taskItem: blocks,
  bulletList: ['listItem'],
  orderedList: ['listItem'],
  taskList: ['taskItem'],
  figure: ['image', 'figcaption'],
  gallery: ['image'],
  table: ['tableRow'],
  tableRow: ['tableCell', 'tableHeader'],
}
const neverEmpty = [
  'blockquote',
  'callout',
  'tableCell',
  'tableHeader',
  'listItem',
  'taskItem',
  'bulletList',
  'orderedList',
  'taskList',
  'gallery',
  'table',
]

function check(node: ProseNode, level: number, found: string[], places: readonly string[], before?: ProseNode): void {
  if (!places.includes(node.type)) found.push(`${node.type}: not allowed here`)
  if (node.type === 'text') {
    if (node.text === '') found.push('text: empty')
    if (before?.type === 'text' && equalMarks(before.marks, node.marks)) found.push('text: not merged')
    node.marks.forEach((mark, i) => {
      const last = node.marks[i - 1]
      if (last !== undefined && markRank(last.type) >= markRank(mark.type)) found.push('marks: out of order')
      const spec = findMarkSpec(mark.type)?.attr
      if (spec?.required === true && spec.read(mark.attrs[spec.name]) === undefined) found.push(`${mark.type}: bad value`)
    })
    return
  }
  if (level > 64 && blocks.includes(node.type)) found.push(`${node.type}: on level ${level}`)
  const spec = nodeSpec(node.type)
  for (const [name, value] of Object.entries(node.attrs)) {
    const attr = spec.attrs.find((other) => other.name === name)
    if (attr === undefined) found.push(`${node.type}: attribute ${name}`)
    else if (!equalValues(attr.read(value), value)) found.push(`${node.type}: ${name} = ${String(value)}`)
    else if (equalValues(attr.default, value)) found.push(`${node.type}: ${name} at its default`)
  }
  if (neverEmpty.includes(node.type) && node.content.length === 0) found.push(`${node.type}: empty`)
  node.content.forEach((child, i) => check(child, level + 1, found, allowed[node.type] ?? [], node.content[i - 1]))
  if ((node.type === 'listItem' || node.type === 'taskItem') && node.content[0]?.type !== 'paragraph')
    found.push(`${node.type}: first child`)
  if (node.type === 'figure' && node.content.map((child) => child.type).join() !== 'image,figcaption')
    found.push('figure: content')
  if (
    node.type === 'codeBlock' &&
    (node.content.length > 1 || node.content.some((child) => child.type === 'text' && child.marks.length > 0))
  ) {
    found.push('codeBlock: marks')
  }
  if (node.type === 'image' && typeof node.attrs['src'] !== 'string') found.push('image: no source')
  if (node.type === 'heading' && Number(node.attrs['level'] ?? 1) > 6) found.push('heading: level')
  if (node.type === 'table') found.push(...gridViolations(node))
}

/** Checks that every slot of the grid is covered exactly once. */
function gridViolations(table: ProseElement): readonly string[] {
  const covered: boolean[][] = table.content.map(() => [])
  const found: string[] = []
  table.content.forEach((row, r) => {
    let column = 0
    for (const cell of (row as ProseElement).content as readonly ProseElement[]) {
      while (covered[r]?.[column] === true) column++
      const [width, height] = [Number(cell.attrs['colspan'] ?? 1), Number(cell.attrs['rowspan'] ?? 1)]
      const widths = cell.attrs['colwidth']
      if (Array.isArray(widths) && widths.length !== width) found.push('cell: colwidth')
      for (let y = r; y < r + height; y++) {
        for (let x = column; x < column + width; x++) {
          const line = covered[y]
          if (line === undefined || line[x] === true) found.push('table: a span overlaps or leaves the table')
          else line[x] = true
        }
      }
    }
  })
  const width = Math.max(...covered.map((line) => line.length))
  if (width === 0 || covered.some((line) => Array.from({ length: width }, (_, x) => line[x] === true).includes(false)))
    found.push('table: not rectangular')
  return found
}
