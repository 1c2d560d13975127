/** One step of typing: at `position`, remove `removed` characters, then insert `inserted`. Positions count UTF-16 units. */
export interface TypingStep {
  readonly position: number
  readonly removed: number
  readonly inserted: string
}

export interface TypingTrace {
  readonly steps: readonly TypingStep[]
  readonly finalText: string
}

/**
 * Generates typing with the shape of a recorded writing session of one long text: single-character steps in runs, corrections of a few
 * characters right after typing them, longer deletions while revising, and jumps of the cursor to earlier passages. About 30 % of the steps
 * remove a character, as in the published recording of a LaTeX paper (182,315 insertions, 77,463 deletions). It is generated, not recorded; the
 * same seed gives the same trace.
 */
export function typingTrace(options: {
  readonly steps: number
  readonly seed: number
  readonly words: readonly string[]
}): TypingTrace {
  const random = xorshift(options.seed)
  const steps: TypingStep[] = []
  const text: string[] = []
  let cursor = 0
  const type = (character: string) => {
    steps.push({ position: cursor, removed: 0, inserted: character })
    text.splice(cursor++, 0, character)
  }
  const backspace = (count: number) => {
    for (let i = 0; i < count && cursor > 0; i++) {
      steps.push({ position: --cursor, removed: 1, inserted: '' })
      text.splice(cursor, 1)
    }
  }
  while (steps.length < options.steps) {
    const action = random()
    if (action < 0.86) {
      const word = options.words[Math.floor(random() * options.words.length)] as string
      for (const character of word) type(character)
      // A slip: a few characters go again at once and are typed anew.
      if (random() < 0.5) {
        const slipped = 1 + Math.floor(random() * Math.min(5, word.length))
        backspace(slipped)
        for (const character of word.slice(word.length - slipped)) type(character)
      }
      type(random() < 0.08 ? '\n' : ' ')
    } else if (action < 0.93) backspace(4 + Math.floor(random() * 24))
    else cursor = random() < 0.5 ? text.length : Math.floor(random() * (text.length + 1))
  }
  steps.length = options.steps
  return { steps, finalText: replay(steps) }
}

/** The text after all steps on an empty document. */
export function replay(steps: readonly TypingStep[]): string {
  const text: string[] = []
  for (const step of steps) text.splice(step.position, step.removed, ...step.inserted)
  return text.join('')
}

/** Marsaglia's xorshift32: small, seeded, and good enough to choose words. */
function xorshift(seed: number): () => number {
  let state = seed | 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
