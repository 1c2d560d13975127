// Type-checks every project of the repository. Each project has its own lib and types, so the model cannot use Node or the DOM.
import { spawnSync } from 'node:child_process'

const projects = ['packages/model', 'packages/protocol', 'packages/server', 'packages/dev-issuer', 'bench', '.']
let failed = false
for (const project of projects) {
  const run = spawnSync('node_modules/.bin/tsc', ['-p', project], { stdio: 'inherit' })
  if (run.status !== 0) failed = true
}
process.exit(failed ? 1 : 0)
