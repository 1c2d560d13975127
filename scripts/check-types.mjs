// Type-checks every project of the repository. Each project has its own lib and types, so the model cannot use Node or the DOM.
// What was found stays in a cache, so that the next check looks only at what has changed since.
import { spawnSync } from 'node:child_process'

const projects = [
  'packages/model',
  'packages/protocol',
  'packages/client',
  'packages/prosemirror',
  'packages/console',
  'packages/server',
  'packages/dev-issuer',
  'packages/docrelay',
  'bench',
  '.',
]
let failed = false
for (const project of projects) {
  const cache = `node_modules/.cache/docrelay-types/${project.replace('/', '-')}.tsbuildinfo`
  const run = spawnSync('node_modules/.bin/tsc', ['-p', project, '--incremental', '--tsBuildInfoFile', cache], {
    stdio: 'inherit',
  })
  if (run.status !== 0) failed = true
}
process.exit(failed ? 1 : 0)
