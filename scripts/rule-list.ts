/** What a mark behind the id of a rule says. Without one the rule is built, and a test must name it. */
export type Mark =
  | { readonly kind: 'none' }
  /** Not built: no test may name it. */
  | { readonly kind: 'not yet' }
  /** Built but for what its text says; held to tests like a rule without a mark. */
  | { readonly kind: 'in part' }
  /** Says inside what another rule says outside; tests name the other one. */
  | { readonly kind: 'tested as'; readonly rule: string }

export interface Rule {
  readonly id: string
  readonly file: string
  readonly mark: Mark
}

/** A place that mentions a rule. */
export interface Mention {
  readonly rule: string
  readonly file: string
}

/** `WS-6`, `PROSE-H3`, `TOOL-get_page`; the rules of the reliability pages have no hyphen: `C6`. */
const ID = String.raw`[A-Z]+-H?\d+|TOOL-[a-z]+(?:_[a-z]+)*|[A-Z]\d{1,2}`
const MARK = String.raw`(?: \((not yet|in part|tested as (?:${ID}))\))?`
/** The three places where a rule has its text: an item of a list, a row of a table, the head of a table. */
const DEFINITIONS = [
  new RegExp(String.raw`^- \*\*(${ID})\*\*${MARK} `),
  new RegExp(String.raw`^\| (${ID})${MARK} \|`),
  new RegExp(String.raw`^\| \*\*(${ID})\*\*${MARK} `),
]

/** The rules of one page of docs/spec. */
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
  for (const match of source.matchAll(/['"`]((?:\[[A-Z][^[\]\n'"`]{1,60}\][ ,]*)+)/g)) {
    for (const bracket of (match[1] ?? '').matchAll(/\[([^\]]+)\]/g)) rules.push(...idsOf(bracket[1] ?? ''))
  }
  return rules
}

/**
 * Every rule that a text cites, in comments, names and prose alike. An id counts when its family (`WS`, `G`) is one of the spec's: `SHA-256`
 * is none. Ids without a hyphen count in brackets only, since `S3` and `V8` are words.
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

/** `WS` of `WS-6`; ids without a hyphen have a family of their own, so that `D-1` and `D1` are not mixed up. */
export function familyOf(id: string): string {
  return id.includes('-') ? id.slice(0, id.indexOf('-') + 1) : id.replace(/\d+$/, '')
}

export interface RuleComparison {
  /** Rules with two texts. */
  readonly twice: readonly Rule[]
  /** Cited or named, and without a text. */
  readonly unknown: readonly Mention[]
  /** Marked not yet, and named by a test. */
  readonly early: readonly Mention[]
  /** Built, and named by no test. */
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
