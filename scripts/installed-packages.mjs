// Which packages of the repository are installed, and how to install those that a command needs. Runs without dependencies on old Nodes.
import { createHash } from 'node:crypto'

/** What runs without the packages of tests and tools: the workspaces that `npm start` is made of. */
const TRY_OUT = ['server', 'dev-issuer', 'console', 'docrelay'].map((name) => `packages/${name}`)

/**
 * The options of `npm ci` for a set of packages. The repository's own Node is more than half of the download, and is left out where the
 * machine's can run the relay.
 */
export function installOptions(set, nodeVersion) {
  if (set === 'all') return []
  const workspaces = TRY_OUT.flatMap((folder) => ['--workspace', folder])
  return ['--omit=dev', ...workspaces, ...(stripsTypes(nodeVersion) ? [] : ['--include-workspace-root'])]
}

/** Whether a Node of this version can strip types, so that it can run the relay. */
export function stripsTypes(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 18)
}

/** The content of the file that says what is installed. */
export function stampOf(set, lockText) {
  return `${set} ${createHash('sha256').update(lockText).digest('hex')}`
}

/**
 * Returns which packages of a lockfile are installed: `all`, `try-out`, or `null`. Without a stamp they came from a plain `npm ci`, so npm's
 * own copy of the lockfile is compared.
 *
 * @param {{ lockText: string, stamp: string | null, copyText: string | null }} found
 * @returns {'all' | 'try-out' | null}
 */
export function installedSet({ lockText, stamp, copyText }) {
  if (stamp !== null) return ['all', 'try-out'].find((set) => stamp === stampOf(set, lockText)) ?? null
  if (copyText === null) return null
  const wanted = JSON.parse(lockText).packages
  const present = JSON.parse(copyText).packages
  const isWanted = ([path, entry]) => wanted[path] !== undefined && wanted[path].version === entry.version
  if (!Object.entries(present).every(isWanted)) return null
  const missing = Object.entries(wanted).filter(
    ([path, entry]) => path.startsWith('node_modules/') && !entry.optional && !entry.devOptional && present[path] === undefined,
  )
  if (missing.some(([, entry]) => !entry.dev)) return null
  return missing.length === 0 ? 'all' : 'try-out'
}
