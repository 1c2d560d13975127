import type { MarkType, ProseMark } from './node.ts'
import { writeDestination } from './markdown-escape.ts'
import { writeMark } from './html-writer.ts'

/** A mark's two ends in a line, written once it is known what stands beside them. */
export interface MarkPair {
  readonly mark: ProseMark
  readonly open: number
  close: number
  /** The chosen delimiters. */
  written: { readonly open: string; readonly close: string } | undefined
}

/** A piece of a line: text that is written already, or one end of a mark. */
export type Piece = { readonly text: string } | { readonly end: 'open' | 'close'; readonly pair: MarkPair }

const delimiters: { readonly [T in MarkType]?: readonly string[] } = {
  bold: ['**', '__'],
  italic: ['*', '_'],
  strike: ['~~'],
}

/**
 * The line with each mark written in Markdown where its delimiters will be read as such, else as HTML. Marks are decided in the order in
 * which they open, so what stands outside of one is known and what stands inside will be punctuation whatever it becomes. [PROSE-38]
 */
export function joinPieces(pieces: readonly Piece[]): string {
  for (const piece of pieces) if ('end' in piece && piece.end === 'open') piece.pair.written = choose(piece.pair, pieces)
  let line = ''
  for (const piece of pieces) line += outputOf(piece) ?? ''
  return line
}

function choose(pair: MarkPair, pieces: readonly Piece[]): { open: string; close: string } {
  if (pair.mark.type === 'link') return { open: '[', close: `](${writeDestination(String(pair.mark.attrs['href']))})` }
  for (const delimiter of delimiters[pair.mark.type] ?? [])
    if (stands(delimiter, pair, pieces)) return { open: delimiter, close: delimiter }
  const html = writeMark(pair.mark, '')
  const end = html.lastIndexOf('</')
  return { open: html.slice(0, end), close: html.slice(end) }
}

/** Whether both delimiters have the flanks that CommonMark asks for and touch none of their own kind. */
function stands(delimiter: string, pair: MarkPair, pieces: readonly Piece[]): boolean {
  const char = delimiter.charAt(0)
  const [beforeOpen, afterOpen] = [pieces[pair.open - 1], pieces[pair.open + 1]]
  const [beforeClose, afterClose] = [pieces[pair.close - 1], pieces[pair.close + 1]]
  if ([beforeOpen, afterOpen, beforeClose, afterClose].some((piece) => isDelimiter(piece, char))) return false
  return (
    flanks(sideOf(beforeOpen, 'end'), sideOf(afterOpen, 'start'), char) &&
    flanks(sideOf(afterClose, 'start'), sideOf(beforeClose, 'end'), char)
  )
}

function isDelimiter(piece: Piece | undefined, char: string): boolean {
  return piece !== undefined && 'end' in piece && (outputOf(piece)?.startsWith(char) ?? false)
}

type Side = 'space' | 'punctuation' | 'word' | 'other'

/** Left- and right-flanking are mirror images: what is outside of the mark, and what is inside. */
function flanks(outside: Side, inside: Side, char: string): boolean {
  const isFree = outside === 'space' || outside === 'punctuation'
  return inside === 'word' ? isFree || char !== '_' : inside !== 'space' && isFree
}

function outputOf(piece: Piece): string | undefined {
  return 'text' in piece ? piece.text : piece.pair.written?.[piece.end]
}

function sideOf(piece: Piece | undefined, side: 'start' | 'end'): Side {
  if (piece === undefined) return 'space'
  const text = outputOf(piece)
  if (text === undefined) return 'punctuation'
  const char = side === 'start' ? String.fromCodePoint(text.codePointAt(0) ?? 32) : (/.$/su.exec(text.slice(-2))?.[0] ?? ' ')
  if (/^[\t-\r \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]$/.test(char)) return 'space'
  if (/^[!-/:-@[-`{-~]$/.test(char)) return 'punctuation'
  return /^[\p{L}\p{N}]$/u.test(char) ? 'word' : 'other'
}
