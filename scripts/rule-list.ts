/** The mark after the id of a rule. A rule without a mark is built, and a test must name it. */
export type Mark =
  | { readonly kind: 'none' }
  /** Not built: no test may name it. */
  | { readonly kind: 'not yet' }
  /** Built except for the part that the text describes; must have tests like a rule without a mark. */
  | { readonly kind: 'in part' }
  /** Specifies internally what another rule specifies externally; tests name the other rule. */
  | { readonly kind: 'tested as'; readonly rule: string }

export interface Rule {
  readonly id: string
  readonly file: string
  readonly mark: Mark
}

/** A place where a rule is mentioned. */
export interface Mention {
  readonly rule: string
  readonly file: string
}

/** Ids such as `WS-6`, `PROSE-H3`, `TOOL-get_page`. The rules of the reliability pages have no hyphen, for example `C6`. */
const ID = String.raw`[A-Z]+-H?\d+|TOOL-[a-z]+(?:_[a-z]+)*|[A-Z]\d{1,2}`
const MARK = String.raw`(?: \((not yet|in part|tested as (?:${ID}))\))?`
/** The three places where a rule can be defined: an item of a list, a row of a table, the head of a table. */
const DEFINITIONS = [
  new RegExp(String.raw`^- \*\*(${ID})\*\*${MARK} `),
  new RegExp(String.raw`^\| (${ID})${MARK} \|`),
  new RegExp(String.raw`^\| \*\*(${ID})\*\*${MARK} `),
]

/** Reads the rules of one page of docs/spec. */
export function readRules(file: string, text: string): readonly Rule[] {
  const rules: Rule[] = []
  for (const line of text.split('\n')) {
    for (const definition of DEFINITIONS) {
      const found = definition.exec(line)
      if (found) rules.push({ id: found[1] ?? '', file, mark: markOf(found[2]) })
    }
  }
  return rules
}

function markOf(text: string | undefined): Mark {
  if (text === undefined) return { kind: 'none' }
  if (text === 'not yet' || text === 'in part') return { kind: text }
  return { kind: 'tested as', rule: text.slice('tested as '.length) }
}

/** Returns the names of tests in a source file that are literals. */
export function testNames(source: string): readonly string[] {
  // Matches `it(`, `it.each(table)(`, `it.skipIf(…)(`, and a name on the next line. The table of `each` may be long, so only its closing
  // bracket is matched.
  return [...source.matchAll(/(?:\b(?:it|test)(?:\.\w+)?|\))\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1\s*,/g)]
    .map((match) => match[2] ?? '')
    .filter((name) => name !== '')
}

/** Returns every rule in brackets at the beginning of a literal, because names of tests may be assembled elsewhere. */
export function namedRules(source: string): readonly string[] {
  const rules: string[] = []
  for (const match of source.matchAll(/['"`]((?:\[[A-Z][^[\]\n'"`]{1,60}\][ ,]*)+)/g)) {
    for (const bracket of (match[1] ?? '').matchAll(/\[([^\]]+)\]/g)) rules.push(...idsOf(bracket[1] ?? ''))
  }
  return rules
}

/**
 * Returns every rule that a text cites, in comments, names and prose. An id counts only when its family (`WS`, `G`) is one of the
 * specification's, so `SHA-256` does not. Ids without a hyphen count only in brackets, since `S3` and `V8` are also ordinary words.
 */
export function citedRules(source: string, families: ReadonlySet<string>): readonly string[] {
  const cited: string[] = []
  for (const match of source.matchAll(/(?<![\w-])(?:[A-Z]+-H?\d+|TOOL-[a-z]+(?:_[a-z]+)*)(?![\w])/g)) cited.push(match[0])
  for (const bracket of source.matchAll(/\[([A-Z][^[\]\n]{1,80})\]/g)) {
    cited.push(...idsOf(bracket[1] ?? '').filter((id) => !id.includes('-')))
  }
  return cited.filter((id) => families.has(familyOf(id)))
}

function idsOf(bracket: string): readonly string[] {
  return bracket.split(/[, ]+/).filter((word) => new RegExp(`^(?:${ID})$`).test(word))
}

/**
 * The family of a rule, for example `WS` of `WS-6`. Ids without a hyphen have families of their own, so that `D-1` and `D1` are not
 * confused.
 */
export function familyOf(id: string): string {
  return id.includes('-') ? id.slice(0, id.indexOf('-') + 1) : id.replace(/\d+$/, '')
}

export interface RuleComparison {
  /** Rules that are defined twice. */
  readonly twice: readonly Rule[]
  /** Rules that are cited or named but not defined. */
  readonly unknown: readonly Mention[]
  /** Rules marked not yet that a test names. */
  readonly early: readonly Mention[]
  /** Built rules that no test names. */
  readonly untested: readonly Rule[]
}

export function compareRules(rules: readonly Rule[], named: readonly Mention[], cited: readonly Mention[]): RuleComparison {
  const byId = new Map(rules.toReversed().map((rule) => [rule.id, rule]))
  const tested = new Set(named.map(({ rule }) => rule))
  const elsewhere = rules.flatMap(({ mark, file }) => (mark.kind === 'tested as' ? [{ rule: mark.rule, file }] : []))
  return {
    twice: rules.filter((rule) => byId.get(rule.id) !== rule),
    unknown: [...named, ...cited, ...elsewhere].filter(({ rule }) => !byId.has(rule)),
    early: named.filter(({ rule }) => byId.get(rule)?.mark.kind === 'not yet'),
    untested: rules.filter(({ id, mark }) => (mark.kind === 'none' || mark.kind === 'in part') && !tested.has(id)),
  }
}
