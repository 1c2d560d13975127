import type { MarkType, ProseMark } from './node.ts'
import { writeDestination } from './markdown-escape.ts'
import { writeMark } from './html-writer.ts'

/** The two ends of a mark in a line. Their delimiters are chosen once the neighbours of the mark are known. */
export interface MarkPair {
  readonly mark: ProseMark
  readonly open: number
  close: number
  /** The delimiters that were chosen. */
  written: { readonly open: string; readonly close: string } | undefined
}

/** A piece of a line: finished text, or one end of a mark. */
export type Piece = { readonly text: string } | { readonly end: 'open' | 'close'; readonly pair: MarkPair }

const delimiters: { readonly [T in MarkType]?: readonly string[] } = {
  bold: ['**', '__'],
  italic: ['*', '_'],
  strike: ['~~'],
}

/**
 * Joins the pieces of a line. Each mark is written as Markdown where its delimiters will be recognised, else as HTML. Marks are decided in
 * the order in which they open: then the text outside a mark is already known, and the text inside begins with punctuation in either form.
 * [PROSE-38]
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

/** Whether both delimiters are flanked as CommonMark requires and touch no delimiter of the same character. */
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

/**
 * Whether a delimiter is flanked as CommonMark requires. The rules for left-flanking and right-flanking delimiters are mirror images: both depend on the
 * characters outside and inside of the mark.
 */
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
