import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '@docrelay/server/test/relay-under-test'

const ROOT = join(import.meta.dirname, '../../..')
const MAIN = join(ROOT, 'packages/docrelay/src/main.ts')
const ISSUER = join(ROOT, 'packages/dev-issuer/src/main.ts')

let folder: string
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'docrelay-command-'))))
afterAll(() => rmSync(folder, { recursive: true }))

function run(args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8', timeout: 60_000 })
  return { status, stdout, stderr }
}

describe('docrelay', () => {
  const docrelay = (...args: readonly string[]) => run([join(ROOT, 'packages/docrelay/bin/docrelay.js'), ...args])

  it('[CFG-12] try --help prints its options', () => {
    expect(docrelay('try', '--help')).toEqual({ status: 0, stdout: docrelay('--help').stdout, stderr: '' })
  })

  it('[CFG-12] an invalid command line of try prints the usage and exits with 2', () => {
    const { status, stderr } = docrelay('try', '--opne')
    expect(status).toBe(2)
    expect(stderr).toMatch(/--opne/)
    expect(stderr).toMatch(/--no-agent leaves out the agent/)
  })

  it('the relay of docrelay serve ends when docrelay is killed', async () => {
    const program = join(folder, 'relay.mjs')
    writeFileSync(program, 'process.stdout.write(`${process.pid}\\n`); setInterval(() => {}, 1000)')
    const script = `import(${JSON.stringify(MAIN)}).then(({ runRelay }) => runRelay([], ${JSON.stringify(program)}))`
    const docrelay = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const pid = Number(String(((await once(docrelay.stdout, 'data')) as [Buffer])[0]))
    expect(pid).toBeGreaterThan(0)
    docrelay.kill('SIGKILL')
    try {
      await until('the end of the relay', () => !isRunning(pid), 10_000)
    } finally {
      if (isRunning(pid)) process.kill(pid, 'SIGKILL')
    }
  })
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('the issuer for trying out', () => {
  const issuer = (...args: readonly string[]) => run([ISSUER, '--data-dir', join(folder, 'issuer'), ...args])

  it('[CFG-12] an invalid port and an unknown option print the usage and exit with 2', () => {
    for (const port of ['eighty', '70000', '-1', '']) {
      const { status, stderr } = issuer(`--port=${port}`)
      expect([status, stderr]).toEqual([2, expect.stringContaining(`--port is not a port (got "${port}", allowed 0 to 65535)`)])
    }
    const { status, stderr } = issuer('--prot=9880')
    expect([status, stderr]).toEqual([2, expect.stringMatching(/--prot[^]*--data-dir <dir>/)])
  })

  it('[CFG-12] a used port is named in one sentence', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { status, stderr } = issuer(`--port=${port}`)
    server.close()
    expect([status, stderr]).toEqual([1, `port ${port} is taken; --port chooses another\n`])
  })
})

it('npm start says why npm could not be started', () => {
  for (const name of ['bootstrap.mjs', 'installed-packages.mjs']) {
    mkdirSync(join(folder, 'scripts'), { recursive: true })
    copyFileSync(join(ROOT, 'scripts', name), join(folder, 'scripts', name))
  }
  copyFileSync(join(ROOT, 'package-lock.json'), join(folder, 'package-lock.json'))
  const { status, stderr } = run([join(folder, 'scripts/bootstrap.mjs'), 'start'], { PATH: join(folder, 'nothing') })
  expect([status, stderr]).toEqual([1, expect.stringMatching(/npm could not be started: .*ENOENT/)])
})
