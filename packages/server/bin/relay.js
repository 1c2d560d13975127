#!/usr/bin/env node
// Runs the relay: its bundle, or its sources where no bundle was made of them. On this Node when it strips types by itself, or else on the one
// that the repository brings as a package.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { relayProgram } from './built-relay.js'

/** Set for the process that this file starts on another Node. */
const TIED = 'DOCRELAY_TIED_TO_PARENT'
const here = dirname(fileURLToPath(import.meta.url))
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major > 22 || (major === 22 && minor >= 18)) {
  endWithParent()
  const { program, isStale } = relayProgram(join(here, '..'))
  if (isStale) process.stderr.write('relay: dist/ was made of other sources, so these run; `npm run build:relay` makes it anew\n')
  const { main } = await import(pathToFileURL(program).href)
  await main()
} else {
  const node = bundledNode(here)
  if (node === null) {
    process.stderr.write(
      `relay: Node 22.18 or newer is needed, this is ${process.versions.node}; run \`npm ci\` in the repository to get one\n`,
    )
    process.exit(1)
  }
  const child = spawn(node, [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [TIED]: '1' },
  })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)))
}

/**
 * A signal to the started process is passed on, but SIGKILL cannot be. The channel to it closes when it is gone, and then the relay ends in the
 * same way: whatever it acknowledged is durable, and a successor must find the store free.
 */
function endWithParent() {
  if (process.env[TIED] === undefined) return
  delete process.env[TIED]
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  process.channel?.unref()
}

/** @param {string} from */
function bundledNode(from) {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', '.bin', 'node')
    if (existsSync(candidate)) return candidate
    if (dirname(folder) === folder) return null
  }
}
