// `npm run rules`: rules that no test names, and tests that name a rule nobody knows. `--check` fails when either list is not empty.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compareRules, namedRules, readRuleList, testNames } from './rule-list.ts'

const ROOT = join(import.meta.dirname, '..')

async function testFiles(): Promise<readonly string[]> {
  const files: string[] = []
  for (const folder of ['packages', 'scripts', 'bench']) {
    for (const entry of await readdir(join(ROOT, folder), { recursive: true })) {
      if (/\.(test|contract)\.ts$/.test(entry) && !entry.includes('node_modules')) files.push(join(folder, entry))
    }
  }
  return files.sort()
}

const list = readRuleList(await readFile(join(ROOT, 'docs/reference/rules.txt'), 'utf8'))
const named: { rule: string; file: string }[] = []
let anonymous = 0
for (const file of await testFiles()) {
  const source = await readFile(join(ROOT, file), 'utf8')
  for (const rule of namedRules(source)) named.push({ rule, file })
  anonymous += testNames(source).filter((name) => !name.startsWith('[')).length
}
const { untested, unknown } = compareRules(list, named)
const shown = new Set(list.filter((rule) => rule.scope === 'now').map((rule) => rule.group))
for (const group of shown) {
  const missing = untested.filter((rule) => rule.group === group)
  if (missing.length > 0) console.log(`no test: ${group}: ${missing.map((rule) => rule.id).join(' ')}`)
}
for (const { rule, file } of unknown) console.log(`unknown rule: ${rule} in ${file}`)
const inScope = list.filter((rule) => rule.scope === 'now').length
const later = list.filter((rule) => rule.scope === 'later').length
console.log(
  `${inScope - untested.length} of ${inScope} rules in scope have a test; ${later} are for later; ${anonymous} tests name no rule`,
)
if (process.argv.includes('--check') && untested.length + unknown.length > 0) process.exitCode = 1
