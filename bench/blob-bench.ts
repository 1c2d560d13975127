// `npm run bench:blobs`: uploads and downloads of blobs, their memory cost, and downloads compared with a bare node file server in
// interleaved rounds. Prints the tables that bench/README.md publishes; exits 1 when a limit is missed.
import { createHash, randomFillSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRelayServer } from './relay-server.ts'
import { startPeer } from './servers.ts'

const MIB = 1_048_576
const LARGE_BYTES = 150 * MIB
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)
const MAX_GROWTH_MIB = 64
const MIN_RATIO = 0.6

/**
 * Groups of downloads: how many blobs of which size, and how many downloads at a time. Only the group with the large blob has a limit, because moving
 * bytes is the main work there. For small blobs the token, the grant and the log line dominate, and a bare server has none of these.
 */
const LOADS = [
  { name: '150 MiB, one at a time', bytes: LARGE_BYTES, downloads: 4, atOnce: 1 },
  { name: '8 MiB, four at a time', bytes: 8 * MIB, downloads: 60, atOnce: 4 },
  { name: '256 KiB, eight at a time', bytes: MIB / 4, downloads: 800, atOnce: 8 },
] as const

interface Blob {
  readonly hash: string
  readonly bytes: Buffer
}

interface Source {
  readonly pid: number
  url(blob: Blob): string
  readonly headers: Readonly<Record<string, string>>
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

function makeBlob(size: number): Blob {
  const bytes = randomFillSync(Buffer.allocUnsafe(size))
  return { bytes, hash: createHash('sha256').update(bytes).digest('hex') }
}

/** Sends a request and counts the bytes of the answer without keeping them. */
function transfer(
  method: 'GET' | 'POST',
  url: string,
  headers: Readonly<Record<string, string>>,
  body?: Buffer,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, agent }, (response) => {
      let received = 0
      response.on('data', (chunk: Buffer) => (received += chunk.byteLength))
      response.on('error', reject)
      response.on('end', () => {
        const { statusCode = 0 } = response
        if (statusCode >= 300) reject(new Error(`${method} answered ${statusCode}`))
        else resolve(received)
      })
    })
    request.on('error', reject)
    request.end(body)
  })
}

async function download(source: Source, blob: Blob): Promise<void> {
  const received = await transfer('GET', source.url(blob), source.headers)
  if (received !== blob.bytes.byteLength) throw new Error(`${received} of ${blob.bytes.byteLength} bytes arrived`)
}

interface Speed {
  readonly mibPerSec: number
  /** Processor time of the whole process with all threads. */
  readonly cpuMsPerMib: number
}

/** Measures `downloads` downloads, `atOnce` at a time. */
async function throughput(source: Source, blob: Blob, downloads: number, atOnce: number): Promise<Speed> {
  let left = downloads
  const cpuBeforeMs = cpuMs(source.pid)
  const startedMs = performance.now()
  const worker = async (): Promise<void> => {
    while (left-- > 0) await download(source, blob)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  const mib = (downloads * blob.bytes.byteLength) / MIB
  const seconds = (performance.now() - startedMs) / 1000
  return { mibPerSec: mib / seconds, cpuMsPerMib: (cpuMs(source.pid) - cpuBeforeMs) / mib }
}

/** User and system time of a process so far; one tick is 10 ms. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function residentMib(pid: number): number {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(match?.[1] ?? 0) / 1024
}

/** Returns by how much the process grew above `baseMib` while `action` ran, and how fast `action` was. */
async function watched(pid: number, baseMib: number, bytes: number, action: () => Promise<unknown>) {
  let peakMib = 0
  const sample = (): void => void (peakMib = Math.max(peakMib, residentMib(pid)))
  const timer = setInterval(sample, 20)
  const startedMs = performance.now()
  await action()
  const seconds = (performance.now() - startedMs) / 1000
  clearInterval(timer)
  sample()
  return { mibPerSec: bytes / MIB / seconds, growthMib: peakMib - baseMib }
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number
const show = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(1))
const row = (...cells: readonly string[]): void => console.log(`| ${cells.join(' | ')} |`)
const heading = (...cells: readonly string[]): void => {
  row(...cells)
  row(...cells.map(() => '---'))
}

const folder = mkdtempSync(join(tmpdir(), 'docrelay-bench-'))
const relay = await startRelayServer({ docs: ['any'], limits: 'default' })
const peer = await startPeer('static-files.ts', { dataDir: folder })
const missed: string[] = []
try {
  const headers = { authorization: `Bearer ${relay.tokens[0]}`, 'content-type': 'application/octet-stream' }
  const url = (blob: Blob): string => `${relay.baseUrl}/api/blobs/${blob.hash}`
  const upload = (blob: Blob) =>
    transfer('POST', url(blob), { ...headers, 'content-length': String(blob.bytes.byteLength) }, blob.bytes)

  // A warm-up: memory for compiled code and first buffers does not count as growth caused by a large blob.
  for (let i = 0; i < 20; i++) {
    const blob = makeBlob(MIB)
    await upload(blob)
    await download({ pid: relay.pid, url, headers }, blob)
  }
  const baseMib = residentMib(relay.pid)
  const large = makeBlob(LARGE_BYTES)
  console.log(`\n### One blob of 150 MiB, memory above ${show(baseMib)} MiB\n`)
  heading('direction', 'MiB/s', 'memory growth MiB')
  for (const [name, action] of [
    ['up', () => upload(large)],
    ['down', () => download({ pid: relay.pid, url, headers }, large)],
    ['up again', () => upload(large)],
    ['four down at once', () => Promise.all([1, 2, 3, 4].map(() => download({ pid: relay.pid, url, headers }, large)))],
  ] as const) {
    const bytes = name === 'four down at once' ? 4 * LARGE_BYTES : LARGE_BYTES
    const { mibPerSec, growthMib } = await watched(relay.pid, baseMib, bytes, action)
    row(name, show(mibPerSec), show(growthMib))
    if (bytes === LARGE_BYTES && growthMib > MAX_GROWTH_MIB)
      missed.push(`${name}: memory grew by ${show(growthMib)} MiB, at most ${MAX_GROWTH_MIB}`)
  }

  const blobs = LOADS.map((load) => ({ ...load, blob: load.bytes === LARGE_BYTES ? large : makeBlob(load.bytes) }))
  for (const { blob } of blobs) {
    writeFileSync(join(folder, blob.hash), blob.bytes)
    if (blob !== large) await upload(blob)
  }
  const sources = {
    relay: { pid: relay.pid, url, headers },
    bare: { pid: peer.pid, url: (blob: Blob) => `http://127.0.0.1:${peer.port}/${blob.hash}`, headers: {} },
  }
  console.log(`\n### Downloads, medians of ${ROUNDS} interleaved rounds\n`)
  heading('load', 'relay MiB/s', 'bare node MiB/s', 'ratio', 'relay CPU-ms per MiB', 'bare node CPU-ms per MiB')
  for (const { name, blob, downloads, atOnce } of blobs) {
    const measured = { relay: [] as Speed[], bare: [] as Speed[] }
    for (let round = 0; round <= ROUNDS; round++) {
      for (const target of ['relay', 'bare'] as const) {
        const speed = await throughput(sources[target], blob, downloads, atOnce)
        // The first round is a warm-up and is not counted.
        if (round > 0) measured[target].push(speed)
      }
    }
    const of = (target: 'relay' | 'bare', member: keyof Speed) => median(measured[target].map((speed) => speed[member]))
    const ratio = of('relay', 'mibPerSec') / of('bare', 'mibPerSec')
    const cpu = (['relay', 'bare'] as const).map((target) => of(target, 'cpuMsPerMib').toFixed(2))
    row(name, show(of('relay', 'mibPerSec')), show(of('bare', 'mibPerSec')), ratio.toFixed(2), ...cpu)
    if (blob === large && ratio < MIN_RATIO) missed.push(`${name}: ${ratio.toFixed(2)} of the bare server, at least ${MIN_RATIO}`)
  }
} finally {
  await Promise.all([relay.stop(), peer.stop()])
  rmSync(folder, { recursive: true, force: true })
  agent.destroy()
}
for (const line of missed) console.error(`missed: ${line}`)
if (missed.length > 0) process.exitCode = 1
