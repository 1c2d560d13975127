import { readFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { LatencyHistogram } from './histogram.ts'

/** A request of one lane; lanes send at the same time, and each waits for its answer before it sends again. */
export interface RestRequest {
  readonly method: 'GET' | 'PUT' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface RestTarget {
  readonly pid: number
  readonly port: number
  /** The n-th request of a lane, both from 0. */
  request(lane: number, n: number): RestRequest
  /** Throws when an answer with status 200 is still not the expected one. */
  check?(answer: Buffer): void
}

export interface RestMeasured {
  readonly requests: number
  readonly seconds: number
  /** User and system time of all threads of the server. */
  readonly serverCpuSec: number
  readonly p50: number
  readonly p99: number
}

/** A measurement ends after `seconds`. A warm-up ends after `calls`, so that code is compiled on a busy machine, too. */
export type RestLength = { readonly seconds: number } | { readonly calls: number }

/** Sends requests in `lanes` lanes. Throws on any answer that is not 200. */
export async function measureRest(target: RestTarget, lanes: number, length: RestLength): Promise<RestMeasured> {
  const agent = new Agent({ keepAlive: true, maxSockets: lanes })
  const latency = new LatencyHistogram()
  let requests = 0
  const startedMs = performance.now()
  const isOver = (): boolean =>
    'seconds' in length ? performance.now() - startedMs >= length.seconds * 1000 : requests >= length.calls
  const cpuBefore = cpuSecondsOf(target.pid)
  const runLane = async (lane: number): Promise<void> => {
    for (let n = 0; !isOver(); n++) {
      const sentMs = performance.now()
      const answer = await send(target.port, agent, target.request(lane, n))
      latency.add(performance.now() - sentMs)
      target.check?.(answer)
      requests++
    }
  }
  try {
    await Promise.all(Array.from({ length: lanes }, (_, lane) => runLane(lane)))
    const serverCpuSec = cpuSecondsOf(target.pid) - cpuBefore
    return { requests, serverCpuSec, seconds: (performance.now() - startedMs) / 1000, ...latency.summary() }
  } finally {
    agent.destroy()
  }
}

/** Sends one request and returns the body of its answer. Throws when its status is not 200. */
export function send(port: number, agent: Agent, { method, path, headers, body }: RestRequest): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const options = { host: '127.0.0.1', port, method, path, agent, headers: { ...headers, ...length } }
    const request = httpRequest(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => void chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const answer = Buffer.concat(chunks)
        if (response.statusCode === 200) resolve(answer)
        else reject(new Error(`${method} ${path} answered ${response.statusCode}: ${answer.toString().slice(0, 500)}`))
      })
    })
    request.on('error', reject)
    request.end(body)
  })
}

/** User and system time of a process so far, with all its threads; one tick is 10 ms. */
function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
