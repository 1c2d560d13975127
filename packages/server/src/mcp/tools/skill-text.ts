/**
 * Returns a recipe as an agent of this build reads it. The lines between `<!-- if generate_diagram add_shapes -->` and `<!-- else -->` stay
 * when the build has every tool named, otherwise those between `<!-- else -->` and `<!-- end -->`. Steps (`1. …` at the start of a line)
 * are renumbered. [AG-96]
 */
export function skillText(source: string, tools: ReadonlySet<string>): string {
  let step = 0
  /** The fence of the current code example; numbers inside an example stay unchanged. */
  let fence: string | null = null
  const lines = keptLines(source, tools).map((line) => {
    const mark = /^`{3,}/.exec(line)?.[0] ?? null
    if (fence === null) fence = mark
    else if (line === fence) fence = null
    return fence === null ? line.replace(/^\d+(?=\. )/, () => String(++step)) : line
  })
  return lines.join('\n').replaceAll(/\n{3,}/g, '\n\n')
}

function keptLines(source: string, tools: ReadonlySet<string>): readonly string[] {
  let keeps = true
  const kept: string[] = []
  for (const line of source.split('\n')) {
    const [, word, names = ''] = /^<!-- (if|else|end)(.*) -->$/.exec(line) ?? []
    if (word === undefined) {
      if (keeps) kept.push(line)
    } else if (word === 'if') {
      keeps = names
        .trim()
        .split(' ')
        .every((name) => tools.has(name))
    } else keeps = word === 'end' || !keeps
  }
  return kept
}
