import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const font = join(root, 'node_modules', 'dejavu-fonts-ttf')
/** The module of the model that contains the table. */
export const WIDTHS_FILE = join(root, 'packages/model/src/canvas/text/advance-widths.ts')

/** The Unicode blocks of the table: Latin, Greek, Cyrillic, punctuation, currency, letter-like signs, arrows and mathematical operators. */
const blocks: readonly (readonly [first: number, last: number])[] = [
  [0x20, 0x7e],
  [0xa0, 0x24f],
  [0x370, 0x3ff],
  [0x400, 0x52f],
  [0x1e00, 0x1eff],
  [0x2010, 0x2027],
  [0x2030, 0x205e],
  [0x20a0, 0x20bf],
  [0x2100, 0x214f],
  [0x2190, 0x21ff],
  [0x2200, 0x22ff],
]

/**
 * Returns the source text of a module with the advance widths of a TrueType font, block by block, in thousandths of an em. 0: the font
 * lacks the character.
 */
export function advanceWidthsFile(bytes: Buffer, version: string): string {
  const widthOf = readWidths(bytes)
  const rows = blocks.map(([first, last]) => {
    const widths = Array.from({ length: last - first + 1 }, (_, i) => widthOf(first + i))
    return `  {\n    first: 0x${first.toString(16)},\n    widths: [\n${lines(widths)}\n    ],\n  },\n`
  })
  return `${header(version)}${rows.join('')}]\n`
}

const header = (version: string) => `// Written by \`node scripts/generate-advance-widths.ts\`; do not edit.

/** A run of characters by their code points, and how far each advances, in thousandths of an em; 0 where the font lacks the character. */
interface AdvanceBlock {
  readonly first: number
  readonly widths: readonly number[]
}

/** The advance widths of DejaVu Sans ${version}, the font that previews are drawn with. [DIAG-5] */
export const advanceBlocks: readonly AdvanceBlock[] = [
`

/** The line width of the repository's formatter. */
const lineWidth = 130

function lines(widths: readonly number[]): string {
  const filled: string[] = []
  for (const width of widths) {
    const last = filled.at(-1)
    if (last !== undefined && `${last} ${width},`.length <= lineWidth) filled[filled.length - 1] = `${last} ${width},`
    else filled.push(`      ${width},`)
  }
  return filled.join('\n')
}

/** Reads the tables `cmap` (format 4), `hhea` and `hmtx` of a TrueType font. */
function readWidths(bytes: Buffer): (code: number) => number {
  const table = (tag: string): number => {
    for (let i = 0; i < bytes.readUInt16BE(4); i++) {
      const entry = 12 + 16 * i
      if (bytes.toString('latin1', entry, entry + 4) === tag) return bytes.readUInt32BE(entry + 8)
    }
    throw new Error(`the font has no table ${tag}`)
  }
  const unitsPerEm = bytes.readUInt16BE(table('head') + 18)
  const metrics = table('hmtx')
  const countOfMetrics = bytes.readUInt16BE(table('hhea') + 34)
  const glyphOf = readCharacterMap(bytes, table('cmap'))
  return (code) => {
    const glyph = glyphOf(code)
    // The last metric gives the width of all further glyphs.
    const width = bytes.readUInt16BE(metrics + 4 * Math.min(glyph, countOfMetrics - 1))
    return glyph === 0 ? 0 : Math.round((width / unitsPerEm) * 1000)
  }
}

function readCharacterMap(bytes: Buffer, cmap: number): (code: number) => number {
  const subtables = Array.from({ length: bytes.readUInt16BE(cmap + 2) }, (_, i) => cmap + bytes.readUInt32BE(cmap + 8 + 8 * i))
  const start = subtables.find((offset) => bytes.readUInt16BE(offset) === 4)
  if (start === undefined) throw new Error('the font has no character map of format 4')
  const doubled = bytes.readUInt16BE(start + 6)
  const [ends, starts] = [start + 14, start + 16 + doubled]
  const [deltas, offsets] = [starts + doubled, starts + 2 * doubled]
  return (code) => {
    for (let i = 0; i < doubled; i += 2) {
      if (code > bytes.readUInt16BE(ends + i)) continue
      const first = bytes.readUInt16BE(starts + i)
      if (code < first) return 0
      const [delta, offset] = [bytes.readUInt16BE(deltas + i), bytes.readUInt16BE(offsets + i)]
      if (offset === 0) return (code + delta) % 0x10000
      const glyph = bytes.readUInt16BE(offsets + i + offset + 2 * (code - first))
      return glyph === 0 ? 0 : (glyph + delta) % 0x10000
    }
    return 0
  }
}

/** Returns the module source for the installed font package. */
export function currentWidthsFile(): string {
  const { version } = JSON.parse(readFileSync(join(font, 'package.json'), 'utf8')) as { version: string }
  return advanceWidthsFile(readFileSync(join(font, 'ttf', 'DejaVuSans.ttf')), version)
}
