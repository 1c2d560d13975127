// `npm run rules`: compares the rules in docs/spec with the code and the tests. `--check` fails when they do not agree.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { citedRules, compareRules, familyOf, type Mention, namedRules, readRules, testNames } from './rule-list.ts'
import { compareTables, readTables } from './spec-tables.ts'

const ROOT = join(import.meta.dirname, '..')
const SPEC = join('docs', 'spec')
/** This test contains invented ids. */
const EXAMPLES = join('scripts', 'rule-list.test.ts')

/** All text files of the repository, by path from its root. */
async function textFiles(): Promise<readonly string[]> {
  const files = (await readdir(ROOT)).filter((name) => /\.(md|js|json)$/.test(name) && name !== 'package-lock.json')
  for (const folder of ['packages', 'scripts', 'bench', 'docs', 'deploy', 'examples']) {
    for (const entry of await readdir(join(ROOT, folder), { recursive: true })) {
      if (/\.(ts|mts|mjs|js|md|yaml|toml|sql)$/.test(entry) && !entry.includes('node_modules')) files.push(join(folder, entry))
    }
  }
  return files.filter((file) => file !== EXAMPLES).sort()
}

const texts = new Map<string, string>()
for (const file of await textFiles()) texts.set(file, await readFile(join(ROOT, file), 'utf8'))

const pages = [...texts].filter(([file]) => file.startsWith(SPEC))
const rules = pages.flatMap(([file, text]) => readRules(file, text))
const families = new Set(rules.map(({ id }) => familyOf(id)))
const named: Mention[] = []
const cited: Mention[] = []
let anonymous = 0
for (const [file, text] of texts) {
  for (const rule of citedRules(text, families)) cited.push({ rule, file })
  if (!/\.(test|contract)\.ts$/.test(file)) continue
  for (const rule of namedRules(text)) named.push({ rule, file })
  anonymous += testNames(text).filter((name) => !name.startsWith('[')).length
}

const { twice, unknown, early, untested } = compareRules(rules, named, cited)
const problems = [
  ...twice.map(({ id, file }) => `${id} has a second text in ${file}`),
  ...unknown.map(({ rule, file }) => `${rule} has no text in docs/spec; ${file} cites it`),
  ...early.map(
    ({ rule, file }) => `${rule} is marked (not yet); a test of ${file} names it: take the mark away or rename the test`,
  ),
  ...untested.map(({ id, file }) => `${id} (${file}) is built and no test names it`),
  ...compareTables(readTables(pages.map(([, text]) => text))),
]
for (const problem of new Set(problems)) console.log(problem)

const later = rules.filter(({ mark }) => mark.kind === 'not yet').length
const elsewhere = rules.filter(({ mark }) => mark.kind === 'tested as').length
console.log(
  `${rules.length} rules: ${later} not yet built, ${elsewhere} tested under another, ${rules.length - later - elsewhere - untested.length} named by a test, ${untested.length} by none; ${anonymous} tests name no rule`,
)
if (process.argv.includes('--check') && problems.length > 0) process.exitCode = 1
