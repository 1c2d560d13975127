// `npm run faults:power [-- --cuts 12 --seed 1 --faults 0.02 --sabotage synchronous-normal]`: cuts the power under mixed load; nothing
// acknowledged may be missing. With `--faults 0.02` two of a hundred commits also fail; the seed chooses which, and whether by a full disk
// or a lost answer. With `--sabotage` SQLite does not flush at commit, and the run succeeds only when the loss is detected. Needs root,
// loop devices and mkfs.xfs.
//
// The data directory is an ext4 file system on a loop device without a cache. A cut is a copy of that device at one instant (a reflink on
// XFS); anything that the kernel had not written yet is missing in it. This models a disk that keeps everything it has received, in order.
// A disk that loses its own cache despite flushes is not modelled.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { startRelayUnderTest } from '../relay-under-test.ts'
import { addLosses, describeLosses, exitCodeOf, type Losses, NO_LOSSES } from './losses.ts'
import { type Acknowledged, createDocuments, findLosses, generator, OPEN_LIMITS, startMixedLoad } from './mixed-load.ts'

const HOST_BYTES = 8 * 2 ** 30
const DISK_BYTES = 2 ** 30

interface Cut {
  readonly image: string
  readonly acknowledged: Acknowledged
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      cuts: { type: 'string', default: '12' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      sabotage: { type: 'string' },
      faults: { type: 'string' },
    },
  })
  const missingTool = whyNotHere()
  if (missingTool !== null) {
    console.log(`SKIPPED: ${missingTool}`)
    process.exitCode = 1
    return
  }
  const sabotaged = values.sabotage !== undefined
  const more = [
    ...(values.faults === undefined ? [] : [`, faults ${values.faults}`]),
    ...(values.sabotage === undefined ? [] : [`, sabotage ${values.sabotage}`]),
  ]
  console.log(`power cuts: ${values.cuts}, seed ${values.seed}${more.join('')}`)
  using disks = openDisks()
  const faults = values.faults === undefined ? null : `${values.seed}:${values.faults}`
  const plan: Plan = { cuts: Number(values.cuts), sabotaged, faults, random: generator(Number(values.seed)) }
  const total = await playCuts(disks, plan)
  console.log(`total: ${describeLosses(total)}`)
  process.exitCode = exitCodeOf(total, sabotaged ? { foundBy: ['typed', 'tools'] } : null)
}

interface Plan {
  readonly cuts: number
  readonly sabotaged: boolean
  /** Which commits fail, as `<seed>:<share of the commits>`. */
  readonly faults: string | null
  readonly random: () => number
}

async function playCuts(disks: Disks, plan: Plan): Promise<Losses> {
  const cuts = await takeCuts(disks, plan)
  let total = NO_LOSSES
  for (const [i, { image, acknowledged }] of cuts.entries()) {
    const losses = await lookAt(disks, image, acknowledged, plan.sabotaged)
    console.log(`cut ${i + 1}: ${describeLosses(losses)}`)
    total = addLosses(total, losses)
  }
  return total
}

async function takeCuts(disks: Disks, { cuts: count, sabotaged, faults, random }: Plan): Promise<Cut[]> {
  const hooks: Record<string, string> = {
    RELAY_TEST_HOOKS: '1',
    ...(sabotaged && { RELAY_TEST_SYNCHRONOUS: 'NORMAL' }),
    ...(faults !== null && { RELAY_TEST_COMMIT_FAULTS: faults }),
  }
  await using relay = await startRelayUnderTest({ env: OPEN_LIMITS, dataDir: disks.dataDir, mcp: 'local' })
  await createDocuments(relay, 0)
  if (sabotaged || faults !== null) {
    // The documents are created first, because this script does not repeat a failed creation.
    await relay.stop()
    await relay.restart({ ...OPEN_LIMITS, ...hooks })
  }
  // Only writes after this point are at risk, in every mode.
  execFileSync('sync')
  const load = await startMixedLoad(relay, { round: 1, random })
  const cuts: Cut[] = []
  for (let i = 0; i < count; i++) {
    await new Promise((resolve) => setTimeout(resolve, 300 + random() * 1_200))
    const acknowledged = load.acknowledged()
    cuts.push({ image: disks.copyNow(i), acknowledged })
  }
  await relay.kill()
  await load.stop()
  if (faults !== null) reportFailures(relay.logLines)
  return cuts
}

/** Fails a run in which no commit failed, because it shows nothing about failing commits. */
function reportFailures(logLines: readonly string[]): void {
  const failed = logLines.filter((line) => line.includes('"storage.commit-failed"')).length
  console.log(`${failed} commits failed under the load`)
  if (failed === 0) throw new Error('no commit failed, so this run shows nothing of failing commits')
}

/**
 * Starts a relay on the state that a cut left, and checks the database afterwards. A torn end is no loss, so the start needs no `--accept-loss`;
 * only a log that was never flushed does.
 */
async function lookAt(disks: Disks, image: string, acknowledged: Acknowledged, sabotaged: boolean): Promise<Losses> {
  using mounted = disks.mountCopy(image)
  try {
    const losses = await lossesIn(mounted.dataDir, acknowledged, sabotaged ? ['--accept-loss'] : [])
    const db = new DatabaseSync(join(mounted.dataDir, 'relay.db'))
    const rows = db.prepare('pragma integrity_check').all()
    db.close()
    if (rows.length !== 1 || rows[0]?.['integrity_check'] !== 'ok') throw new Error(`integrity_check: ${JSON.stringify(rows)}`)
    return losses
  } catch (error) {
    console.log(error instanceof Error ? error.message : error)
    return { ...NO_LOSSES, unloadable: 1 }
  }
}

async function lossesIn(dataDir: string, acknowledged: Acknowledged, args: readonly string[]): Promise<Losses> {
  await using relay = await startRelayUnderTest({ env: OPEN_LIMITS, dataDir, mcp: 'local', args })
  return await findLosses(relay, acknowledged)
}

interface Disks extends Disposable {
  readonly dataDir: string
  /** Copies the disk as it is at this instant. Everything acknowledged before the call must be in the copy. */
  copyNow(number: number): string
  mountCopy(image: string): Disposable & { readonly dataDir: string }
}

function whyNotHere(): string | null {
  if (process.getuid?.() !== 0) return 'not root'
  for (const tool of ['mkfs.xfs', 'mkfs.ext4', 'losetup'])
    if (!answers(tool)) return `${tool} is not installed (packages xfsprogs, e2fsprogs, mount)`
  return null
}

function answers(tool: string): boolean {
  try {
    execFileSync('which', [tool], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/**
 * Creates an XFS that can copy files instantly and, inside it, the disk that is cut. Disposing undoes everything, also after a failure
 * half-way.
 */
function openDisks(): Disks {
  using opened = new DisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'docrelay-power-'))
  opened.defer(() => rmSync(folder, { recursive: true, force: true }))
  const host = join(folder, 'host')
  makeImage(join(folder, 'host.img'), HOST_BYTES, ['mkfs.xfs', '-q', '-m', 'reflink=1'])
  opened.use(mountImage(join(folder, 'host.img'), host))
  const disk = join(host, 'disk.img')
  makeImage(disk, DISK_BYTES, ['mkfs.ext4', '-q'])
  const mounted = opened.use(mountImage(disk, join(folder, 'disk')))
  const undo = opened.move()
  return {
    dataDir: mounted.dataDir,
    copyNow(number) {
      const image = join(host, `cut-${number}.img`)
      execFileSync('cp', ['--reflink=always', disk, image])
      return image
    },
    mountCopy: (image) => mountImage(image, join(folder, 'cut')),
    [Symbol.dispose]: () => undo.dispose(),
  }
}

function makeImage(path: string, bytes: number, [tool = '', ...options]: readonly string[]): void {
  writeFileSync(path, '')
  truncateSync(path, bytes)
  execFileSync(tool, [...options, path])
}

function mountImage(image: string, at: string): Disposable & { readonly dataDir: string } {
  using opened = new DisposableStack()
  const device = execFileSync('losetup', ['--find', '--show', '--direct-io=on', image], { encoding: 'utf8' }).trim()
  opened.defer(() => execFileSync('losetup', ['--detach', device]))
  mkdirSync(at, { recursive: true })
  execFileSync('mount', [device, at])
  opened.defer(() => execFileSync('umount', [at]))
  const undo = opened.move()
  return { dataDir: join(at, 'data'), [Symbol.dispose]: () => undo.dispose() }
}

await main()
