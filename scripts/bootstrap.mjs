// Runs on the machine's own Node, version 18 or newer, without dependencies. Installs missing packages, then starts scripts/<name>.ts on
// the Node that the repository installs as a package. On platforms without that package, the machine's Node must be able to strip types.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installedSet, installOptions, stampOf, stripsTypes } from './installed-packages.mjs'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const STAMP = join(ROOT, 'node_modules', '.docrelay-lock')
const SCRIPTS = ['start', 'test', 'example']
const [script = '', ...rest] = process.argv.slice(2)

if (!SCRIPTS.includes(script)) {
  console.error(`usage: node scripts/bootstrap.mjs ${SCRIPTS.join('|')}`)
  process.exit(2)
}
install(script === 'test' ? 'all' : 'try-out')
run(findNode(), [join(ROOT, 'scripts', `${script}.ts`), ...rest])

/**
 * Installs packages when some are missing, or when they belong to another lockfile. `try-out` are those that `npm start` and the example
 * need, `all` also those of tests and tools. Never for a test that starts the product: it would remove the packages that the test run
 * itself uses.
 */
function install(wanted) {
  if (process.env.VITEST !== undefined) return
  const lockText = readFileSync(join(ROOT, 'package-lock.json'), 'utf8')
  const [stamp, copyText] = [STAMP, join(ROOT, 'node_modules/.package-lock.json')].map(textOf)
  const present = installedSet({ lockText, stamp, copyText })
  if (present !== null && stamp === null) writeFileSync(STAMP, stampOf(present, lockText))
  if (present === 'all' || present === wanted) return
  console.error(`Installing packages with npm ci, ${wanted === 'all' ? 'about a minute' : 'about 15 seconds'} …`)
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const options = ['--no-audit', '--no-fund', '--loglevel=error', ...installOptions(wanted, process.versions.node)]
  // Warnings are hidden: they concern the machine's Node, which only starts the installed one, and install scripts that are not needed.
  const done = spawnSync(npm, ['ci', ...options], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: withoutNpmSettings(),
  })
  if (done.status !== 0) {
    console.error(
      done.error === undefined ? 'npm ci failed; its messages above say why' : `npm could not be started: ${done.error.message}`,
    )
    process.exit(1)
  }
  writeFileSync(STAMP, stampOf(wanted, lockText))
}

function textOf(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}

/** The environment without npm's settings, because those of the npm that runs this script should not affect the install. */
function withoutNpmSettings() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(lifecycle|package|command|execpath)/.test(name)),
  )
}

function findNode() {
  const bundled = join(ROOT, 'node_modules', '.bin', 'node')
  if (existsSync(bundled) && spawnSync(bundled, ['--version']).status === 0) return bundled
  if (stripsTypes(process.versions.node)) return process.execPath
  console.error(`There is no Node package for ${process.platform} ${process.arch}, and this Node is ${process.versions.node}.`)
  console.error('Install Node 24 (22.18 at least) from https://nodejs.org and try again.')
  process.exit(1)
}

function run(node, args) {
  const path = `${dirname(node)}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH ?? ''}`
  // The fourth entry is a channel that closes when this process ends: see end-with-parent.js.
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc']
  const child = spawn(node, args, { cwd: ROOT, stdio, env: { ...process.env, PATH: path } })
  if (process.env.npm_lifecycle_event !== undefined) endWithNpm(child)
  // The terminal sends Ctrl-C to both processes; the child decides when to end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)))
  child.on('error', (error) => {
    console.error(error.message)
    process.exit(1)
  })
}

/**
 * Ends the child when npm is gone. npm forwards signals but cannot forward its own `kill -9`, and a shell between npm and this process
 * would keep running.
 */
function endWithNpm(child) {
  const parent = process.ppid
  const shell = parentOf(parent)
  const watch = setInterval(() => {
    if (process.ppid === parent && parentOf(parent) === shell) return
    clearInterval(watch)
    child.kill('SIGTERM')
  }, 500)
  watch.unref()
}

/** Returns the parent's process id; `null` when the system does not provide it. */
function parentOf(pid) {
  try {
    return /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? null
  } catch {
    return null
  }
}
