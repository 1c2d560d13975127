import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { cpuSec, familyCpuSec, readStat } from './processor-time.ts'

it('the CPU times of a process are read whatever the name of its program is', () => {
  const times = '0 0 0 0 0 0 0 150 50 30 20 20 0 12 0 1'
  const expected = { parent: 77, ownSec: 2, endedChildrenSec: 0.5 }
  expect(readStat(`12 (postgres) S 77 1 1 ${times}`)).toEqual(expected)
  expect(readStat(`12 (a) S (b c) S 77 1 1 ${times}`)).toEqual(expected)
})

/** Source of a program that keeps the processor busy until it has used `ms` milliseconds of CPU time. */
const busy = (ms: number): string => `while (process.cpuUsage().user < ${ms * 1_000}) ;`

it.runIf(process.platform === 'linux')('the CPU time of a process family includes its children, also ended ones', async () => {
  const script = `
    const { spawn, spawnSync } = require('node:child_process')
    spawnSync(process.execPath, ['-e', ${JSON.stringify(busy(300))}])
    const child = spawn(process.execPath, ['-e', ${JSON.stringify(`${busy(300)} console.log('used'); setInterval(() => {}, 1e6)`)}])
    child.stdout.once('data', () => console.log('ready'))
    process.stdin.once('end', () => child.kill('SIGKILL')).resume()
    child.once('exit', () => process.exit())`
  const parent = spawn(process.execPath, ['-e', script])
  await once(parent.stdout, 'data')
  const { pid } = parent as { readonly pid: number }
  const [alone, family] = [cpuSec(pid), familyCpuSec(pid)]
  parent.stdin.end()
  await once(parent, 'exit')
  expect(family - alone).toBeGreaterThanOrEqual(0.55)
})
