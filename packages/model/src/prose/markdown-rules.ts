import type { StateBlock, StateInline } from 'markdown-it'

/** The range of a text that is known to have no closing `$`, so that the next opening `$` does not search this range again. */
export interface MathMemo {
  noMath: { readonly text: string; readonly from: number; readonly stop: number; readonly limit: number } | undefined
}

const dollar = 36
const backslash = 92

/**
 * Returns the position of the `$` that closes math opened at `open`, or -1. The opening `$` is followed by neither white space nor a digit, and the closing `$`
 * does not follow white space. Neither `$` is escaped or part of `$$`, and both are on the same line. [PROSE-33]
 */
export function mathEnd(text: string, open: number, limit: number, memo: MathMemo): number {
  if (open + 1 >= limit || /[\s\d$]/.test(text.charAt(open + 1))) return -1
  const { noMath } = memo
  if (noMath?.text === text && open >= noMath.from && open <= noMath.stop && limit <= noMath.limit) return -1
  let at = open + 1
  while (at < limit) {
    const code = text.charCodeAt(at)
    if (code === 10) break
    if (code === backslash) at += text.charCodeAt(at + 1) === 10 ? 1 : 2
    else if (code !== dollar) at++
    else {
      const run = dollarRun(text, at, limit)
      if (run === 1 && !/\s/.test(text.charAt(at - 1))) return at
      at += run
    }
  }
  memo.noMath = { text, from: open, stop: at, limit: at < limit ? text.length : limit }
  return -1
}

function dollarRun(text: string, from: number, limit: number): number {
  let end = from
  while (end < limit && text.charCodeAt(end) === dollar) end++
  return end - from
}

/** Reads inline math: `$…$`. [PROSE-33] */
export function mathInline(state: StateInline, silent: boolean): boolean {
  const { src, pos, posMax } = state
  if (src.charCodeAt(pos) !== dollar) return false
  const run = dollarRun(src, pos, posMax)
  const end = run === 1 ? mathEnd(src, pos, posMax, state.env as unknown as MathMemo) : -1
  if (end === -1) {
    if (!silent) state.pending += src.slice(pos, pos + run)
    state.pos = pos + run
    return true
  }
  if (!silent) state.push('math_inline', '', 0).content = src.slice(pos + 1, end)
  state.pos = end + 1
  return true
}

/** Reads a field: `{{name}}`. [PROSE-32] */
export function fieldInline(state: StateInline, silent: boolean): boolean {
  const { src, pos, posMax } = state
  if (!src.startsWith('{{', pos)) return false
  let end = pos + 2
  while (end < posMax && !'{}\n'.includes(src.charAt(end))) end++
  const name = src.slice(pos + 2, end).trim()
  if (end + 2 > posMax || !src.startsWith('}}', end) || name === '') return false
  if (!silent) state.push('field', '', 0).content = name
  state.pos = end + 2
  return true
}

/** Reads a block of math: `$$…$$` on one line, or the lines between two lines of `$$`. [PROSE-34] */
export function mathBlock(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  const isIndented = (line: number) => (state.sCount[line] as number) - state.blkIndent >= 4
  const first = lineOf(state, startLine)
  if (!first.startsWith('$$') || isIndented(startLine)) return false
  const inner = first.slice(2, -2).trim()
  if (first.length > 4 && first.endsWith('$$') && inner !== '' && !inner.includes('$$')) {
    if (!silent) state.push('math_block', '', 0).content = inner
    if (!silent) state.line = startLine + 1
    return true
  }
  if (first !== '$$') return false
  for (let line = startLine + 1; line < endLine; line++) {
    if ((state.sCount[line] as number) < state.blkIndent && !state.isEmpty(line)) return false
    if (lineOf(state, line) !== '$$' || isIndented(line)) continue
    if (silent) return true
    const text = state.getLines(startLine + 1, line, state.sCount[startLine] as number, false)
    state.push('math_block', '', 0).content = withoutOuterBlankLines(text)
    state.line = line + 1
    return true
  }
  return false
}

function lineOf(state: StateBlock, line: number): string {
  return state.src.slice((state.bMarks[line] as number) + (state.tShift[line] as number), state.eMarks[line]).trimEnd()
}

export function withoutOuterBlankLines(text: string): string {
  const lines = text.split('\n')
  let [start, end] = [0, lines.length]
  while (start < end && lines[start]?.trim() === '') start++
  while (end > start && lines[end - 1]?.trim() === '') end--
  return lines.slice(start, end).join('\n')
}
