// Runs on the machine's own Node, version 18 or newer, without dependencies. Installs missing packages, then starts scripts/<name>.ts on
// the Node that the repository installs as a package. On platforms without that package, the machine's Node must be able to strip types.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const STAMP = join(ROOT, 'node_modules', '.docrelay-lock')
const SCRIPTS = ['start', 'test', 'example']
const [script = '', ...rest] = process.argv.slice(2)

if (!SCRIPTS.includes(script)) {
  console.error(`usage: node scripts/bootstrap.mjs ${SCRIPTS.join('|')}`)
  process.exit(2)
}
install()
run(findNode(), [join(ROOT, 'scripts', `${script}.ts`), ...rest])

/**
 * Installs the packages when there are none, or when they belong to another lockfile. Never for a test that starts the product: it would
 * remove the packages that the test run itself uses.
 */
function install() {
  if (process.env.VITEST !== undefined) return
  const lock = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex')
  if (existsSync(join(ROOT, 'node_modules', 'vitest')) && stamped(lock)) return
  console.error('Installing packages with npm ci, about a minute …')
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  // Warnings are hidden: they concern the machine's Node, which only starts the installed one, and install scripts that are not needed.
  const done = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: withoutNpmSettings(),
  })
  if (done.status !== 0) {
    console.error('npm ci failed; its messages above say why')
    process.exit(1)
  }
  writeFileSync(STAMP, lock)
}

/**
 * Whether the installed packages match the lockfile. Without a stamp file they came from a plain `npm ci`, so npm's own copy of the
 * lockfile is compared.
 */
function stamped(lock) {
  if (existsSync(STAMP)) return readFileSync(STAMP, 'utf8') === lock
  const copy = join(ROOT, 'node_modules', '.package-lock.json')
  if (!existsSync(copy)) return false
  const wanted = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages
  const present = JSON.parse(readFileSync(copy, 'utf8')).packages
  const same = ([path, entry]) => wanted[path] !== undefined && wanted[path].version === entry.version
  const needed = ([path, entry]) => path.startsWith('node_modules/') && !entry.optional && !entry.devOptional
  const current =
    Object.entries(present).every(same) &&
    Object.entries(wanted)
      .filter(needed)
      .every(([path]) => present[path] !== undefined)
  if (current) writeFileSync(STAMP, lock)
  return current
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
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 18)) return process.execPath
  console.error(`There is no Node package for ${process.platform} ${process.arch}, and this Node is ${process.versions.node}.`)
  console.error('Install Node 24 (22.18 at least) from https://nodejs.org and try again.')
  process.exit(1)
}

function run(node, args) {
  const path = `${dirname(node)}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH ?? ''}`
  // The fourth entry is a channel that closes when this process ends: see end-with-parent.mjs.
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
