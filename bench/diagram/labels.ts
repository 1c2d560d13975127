import type { SizedGraph } from './peers.ts'

/** Estimated widths in em in common sans-serif fonts by class of character, rather too wide than too narrow. */
function emOf(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (code >= 0x1f000) return 1.3
  if (code >= 0x2e80) return 1
  if (/[iljI.,:;'|! ]/.test(character)) return 0.33
  if (/[ftr()[\]{}"`-]/.test(character)) return 0.42
  if (/[mwMW@%]/.test(character)) return 0.95
  return /[A-Z]/.test(character) ? 0.7 : 0.58
}

const FONT = 14
const LINE = 17

/** Number of labels that do not fit into their node, because a word is too wide or there are too many lines. */
export function labelOverflow({ graph, sizes }: SizedGraph): number {
  return graph.nodes.filter(({ label, kind }, i) => {
    const { width, height } = sizes[i] as { width: number; height: number }
    const factor = kind === 'ellipse' ? Math.SQRT1_2 : 1
    const room = width * factor
    let lines = 1
    let used = 0
    for (const word of label.split(/(?<=\s)|(?<=[\u2e80-\uffef])/u)) {
      const wide = [...word].reduce((sum, character) => sum + emOf(character) * FONT, 0)
      if (wide > room) return true
      if (used + wide > room) [lines, used] = [lines + 1, 0]
      used += wide
    }
    return lines * LINE > height * factor
  }).length
}
