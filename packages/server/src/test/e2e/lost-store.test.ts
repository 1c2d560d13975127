import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { manifestOf } from '../backup-files.ts'
import { relayCommandHere } from '../relay-command.ts'
import { logged, type RelayUnderTest, saved, startRelayUnderTest } from '../relay-under-test.ts'

const TYPED = 30

let relay: RelayUnderTest
const file = (suffix = '') => join(relay.dataDir, `relay.db${suffix}`)

function flipBit(path: string, at: number): void {
  const handle = openSync(path, 'r+')
  const byte = Buffer.alloc(1)
  readSync(handle, byte, 0, 1, at)
  byte[0] = (byte[0] ?? 0) ^ 1
  writeSync(handle, byte, 0, 1, at)
  closeSync(handle)
}

async function shapes(): Promise<number> {
  const client = relay.sync('typed')
  await saved(client)
  const { size } = client.doc.getMap('shapes:p')
  client.destroy()
  return size
}

async function losses(): Promise<readonly string[]> {
  const text = await (await fetch(`${relay.baseUrl}/metrics`)).text()
  return text.split('\n').filter((line) => line.startsWith('relay_store_losses_total{'))
}

/** Flips a bit in the write-ahead log of a killed relay, before later acknowledged edits. */
beforeAll(async () => {
  relay = await startRelayUnderTest({ env: { RELAY_WRITES_PER_SEC: '0' } })
  await relay.rest().putDocument('typed', { name: 'Typed', pages: [{ id: 'p', name: 'P', shapes: [] }] })
  const beforeEdits = statSync(file('-wal')).size
  const client = relay.sync('typed')
  for (let i = 0; i < TYPED; i++) {
    client.doc.getMap('shapes:p').set(`s${i}`, { id: `s${i}`, type: 'ellipse' })
    await saved(client)
  }
  client.destroy()
  await relay.kill()
  flipBit(file('-wal'), Math.floor((beforeEdits + statSync(file('-wal')).size) / 2))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

describe('a store that lost acknowledged writes', () => {
  it('[LIFE-5] [CFG-11] serve refuses the store, names the damage and --accept-loss, and changes nothing', async () => {
    const before = readFileSync(file('-wal'))
    await expect(relay.restart()).rejects.toThrow('ended with 1')
    const line = relay.logLines.findLast((text) => text.includes('relay.start_failed'))
    expect(line).toMatch(/damaged at frame \d+.*relay serve --accept-loss/)
    expect(JSON.parse(line as string)).toMatchObject({ remedy: expect.stringContaining('relay serve --accept-loss') })
    expect(readFileSync(file('-wal')).equals(before)).toBe(true)
  })

  it('[OPS-11] verify reports the loss', async () => {
    const { code, out } = await relayCommandHere(relay.dataDir, ['verify'])
    expect(code).toBe(1)
    expect(out).toMatch(/damage: store: .*damaged at frame/)
  })

  it('[OPS-9] backup copies the readable rows, exits with 1 and says what is missing', async () => {
    const target = join(relay.dataDir, 'copy')
    const { code, err } = await relayCommandHere(relay.dataDir, ['backup', target])
    expect(code).toBe(1)
    expect(err).toMatch(/lacks acknowledged writes.*damaged at frame/)
    expect(existsSync(join(target, 'manifest.json'))).toBe(true)
  })

  it('[CFG-11] migrate refuses the store', async () => {
    const { code, err } = await relayCommandHere(relay.dataDir, ['migrate'])
    expect(code).toBe(1)
    expect(err).toContain('--accept-loss')
  })

  it('[CFG-11] [OPS-4] serve with --accept-loss starts, and logs and counts the losses', async () => {
    await relay.restart(undefined, ['--accept-loss'])
    expect(await shapes()).toBeLessThan(TYPED)
    expect(await losses()).toEqual(['relay_store_losses_total{kind="log"} 1'])
    await logged(relay, 'storage.loss_accepted')
    expect(readdirSync(relay.dataDir)).toContain('relay.db-wal.damaged-1')
  })

  it('[CFG-11] serve starts without --accept-loss once the loss was accepted', async () => {
    await relay.kill()
    await relay.restart()
    expect(await losses()).toEqual([])
  })

  it('[OPS-9] [OPS-10] every later backup records the accepted loss, and restoring it prints the loss', async () => {
    const target = join(relay.dataDir, 'later')
    expect(await relayCommandHere(relay.dataDir, ['backup', target])).toMatchObject({ code: 0, err: '' })
    expect(manifestOf(target).losses).toEqual([expect.stringMatching(/^accepted at \d{4}-.*damaged at frame/)])
    const place = join(relay.dataDir, 'restored')
    mkdirSync(place)
    const { code, err } = await relayCommandHere(place, ['restore', target])
    expect([code, err]).toEqual([0, expect.stringMatching(/had lost acknowledged writes: accepted at .*damaged at frame/)])
  })

  it.each([
    ['is missing', (path: string) => rmSync(path)],
    ['is empty', (path: string) => writeFileSync(path, '')],
  ])('[OPS-9] [OPS-11] verify and backup report that a store whose file %s has lost acknowledged writes', async (_, lose) => {
    await relay.kill()
    lose(file())
    for (const call of [['verify'], ['verify', '--json'], ['backup', join(relay.dataDir, 'nothing')]]) {
      const { code, out, err } = await relayCommandHere(relay.dataDir, call)
      expect([code, out, err]).toEqual([
        1,
        '',
        expect.stringMatching(/has lost acknowledged writes: it is missing.*--accept-loss/),
      ])
    }
  })
})
