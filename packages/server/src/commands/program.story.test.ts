import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { patience } from '../kernel/testing/patience.ts'
import { COMPILED_CODE } from '../test/compiled-code.ts'

const AUTH = { RELAY_JWT_ISSUER: 'https://issuer.example', RELAY_JWT_JWKS_URL: 'https://issuer.example/jwks' }

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'relay-cli-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

interface Run {
  code: number
  out: string
  err: string
}

describe('the relay process', () => {
  /** Runs the real program, with real streams and its real exit code. */
  function program(args: readonly string[], env: Record<string, string>): Promise<Run> {
    const main = join(import.meta.dirname, '..', '..', 'bin', 'relay.js')
    return new Promise((resolve) => {
      const environment = { ...COMPILED_CODE, PATH: process.env['PATH'] ?? '', ...env }
      const child = spawn(process.execPath, [main, ...args], { cwd, env: environment })
      const run: Run = { code: -1, out: '', err: '' }
      child.stdout.on('data', (chunk: Buffer) => void (run.out += chunk.toString()))
      child.stderr.on('data', (chunk: Buffer) => void (run.err += chunk.toString()))
      child.on('close', (code) => resolve({ ...run, code: code ?? -1 }))
    })
  }

  it('[CFG-12] the process exits with the code of its command and prints no colours', async () => {
    const [version, bad] = await Promise.all([program(['--version'], {}), program(['config', 'check'], { FORCE_COLOR: '1' })])
    expect(version).toMatchObject({ code: 0, err: '' })
    expect(version.out).toMatch(/^relay \d+\.\d+\.\d+\n$/)
    expect(bad).toMatchObject({ code: 2, out: '' })
    expect(bad.err).not.toContain('\u001b')
    expect(readdirSync(cwd)).toEqual([])
  })

  it('[CFG-12] a command whose output pipe was closed ends with its exit code and prints no stack', async () => {
    const main = join(import.meta.dirname, '..', '..', 'bin', 'relay.js')
    const environment = { ...COMPILED_CODE, PATH: process.env['PATH'] ?? '' }
    const child = spawn(process.execPath, [main, 'help'], { cwd, env: environment })
    child.stdout.destroy()
    let err = ''
    child.stderr.on('data', (chunk: Buffer) => void (err += chunk.toString()))
    const code = await new Promise((resolve) => child.on('close', resolve))
    expect([code, err]).toEqual([0, ''])
  })

  it(
    '[CFG-13] [LIFE-28] [OPS-5] serve prints its listeners, logs only JSON, creates only its stores, and stops at the first signal',
    async () => {
      const main = join(import.meta.dirname, '..', '..', 'bin', 'relay.js')
      const env = {
        ...COMPILED_CODE,
        PATH: process.env['PATH'] ?? '',
        ...AUTH,
        RELAY_JWT_JWKS_URL: 'http://127.0.0.1:1/jwks',
        RELAY_HOST: '127.0.0.1',
        RELAY_PORT: '0',
        RELAY_METRICS_PORT: '0',
        RELAY_MCP_PORT: '0',
      }
      const child = spawn(process.execPath, [main, 'serve'], { cwd, env })
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
      const text = { out: '', err: '' }
      child.stderr.on('data', (chunk: Buffer) => void (text.err += chunk.toString()))
      await new Promise<void>((resolve) => {
        child.stdout.on('data', (chunk: Buffer) => {
          text.out += chunk.toString()
          if (text.out.includes('main ')) resolve()
        })
        void ended.then(() => resolve())
      })
      const url = /^main (http:\/\/127\.0\.0\.1:\d+)$/m.exec(text.out)?.[1]
      const health = url === undefined ? text.err : await (await fetch(`${url}/health`)).text()
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) child.kill(signal)
      expect([health, await ended]).toEqual(['ok', 0])
      for (const line of text.err.trim().split('\n'))
        expect(JSON.parse(line)).toMatchObject({ ts: expect.any(String), level: expect.any(String) })
      expect(readdirSync(cwd)).toEqual(['data'])
      expect(
        readdirSync(join(cwd, 'data'))
          .filter((name) => !name.startsWith('relay.db'))
          .sort(),
      ).toEqual(['blobs', 'mcp_token'])
    },
    patience(30_000),
  )
})
