export interface Rule {
  readonly id: string
  readonly scope: 'now' | 'later' | 'also'
  /** The heading it stands under, without the scope. */
  readonly group: string
}

/** Reads docs/reference/rules.txt: ids under headings `# now: …`, `# later: …` and `# also: …`. */
export function readRuleList(text: string): readonly Rule[] {
  const rules: Rule[] = []
  let heading: Pick<Rule, 'scope' | 'group'> | null = null
  for (const line of text.split('\n')) {
    const found = /^# (now|later|also): (.+)$/.exec(line)
    if (found) heading = { scope: found[1] as Rule['scope'], group: found[2] ?? '' }
    else if (/^[A-Z]+-\d+$/.test(line)) {
      if (heading === null) throw new Error(`${line} stands under no heading`)
      rules.push({ id: line, ...heading })
    } else if (line !== '' && !line.startsWith('#')) throw new Error(`not a rule id: ${line}`)
  }
  return rules
}

/** The names of tests in a source file, as far as they are literals. */
export function testNames(source: string): readonly string[] {
  // `it(`, `it.each(table)(`, `it.skipIf(…)(`, and a line break before the name. An `each` table may be long, so only its end counts.
  return [...source.matchAll(/(?:\b(?:it|test)(?:\.\w+)?|\))\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1\s*,/g)]
    .map((match) => match[2] ?? '')
    .filter((name) => name !== '')
}

/** Every rule that stands in brackets at the beginning of a literal; names of tests that are put together elsewhere count too. */
export function namedRules(source: string): readonly string[] {
  const rules: string[] = []
  for (const match of source.matchAll(/['"`]((?:\[[A-Z]+-\d+\][ ,]*)+)/g)) {
    for (const id of (match[1] ?? '').matchAll(/[A-Z]+-\d+/g)) rules.push(id[0])
  }
  return rules
}

export interface RuleComparison {
  readonly untested: readonly Rule[]
  readonly unknown: readonly { readonly rule: string; readonly file: string }[]
}

export function compareRules(
  list: readonly Rule[],
  named: readonly { readonly rule: string; readonly file: string }[],
): RuleComparison {
  const tested = new Set(named.map(({ rule }) => rule))
  const known = new Set(list.map(({ id }) => id))
  return {
    untested: list.filter((rule) => rule.scope === 'now' && !tested.has(rule.id)),
    unknown: named.filter(({ rule }) => !known.has(rule)),
  }
}
