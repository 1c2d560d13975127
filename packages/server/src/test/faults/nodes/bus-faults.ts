import { connect } from 'node:net'
import { type NodesFault, type Scene, UNNOTICED } from './nodes-fault.ts'
import { pause } from './requests.ts'

/** Faults of Redis, which people must not notice. */
export const BUS_FAULTS: Readonly<Record<string, NodesFault>> = {
  'bus-stops': ofBus(async ({ cluster: { redis } }) => {
    await redis.kill('SIGKILL')
    await pause(8_000)
    await redis.restart()
  }),
  'bus-hangs': ofBus(async ({ cluster: { redis } }) => {
    await redis.kill('SIGSTOP')
    await pause(10_000)
    await redis.kill('SIGCONT')
  }),
  'bus-slow': ofBus(async ({ cluster: { nodes } }) => {
    for (const { bus } of nodes) bus.delay(10_000)
    await pause(12_000)
    for (const { bus } of nodes) bus.heal()
  }),
  'bus-flushed': {
    ...ofBus(async ({ cluster: { redisUrl }, random }) => {
      for (let i = 0; i < 20; i++) {
        await redisCommand(redisUrl, ['FLUSHALL'])
        await pause(100 + 300 * random())
      }
    }),
    share: 2,
  },
  'bus-garbage': {
    ...ofBus(async ({ cluster: { redisUrl }, random }) => {
      const garbage = ['', '{', 'null', '{"id":-1}', '[[[[', 'x'.repeat(100_000), '{"kind":"deleted","id":"live-0"}']
      for (let i = 0; i < 60; i++) {
        const text = garbage[Math.floor(random() * garbage.length)] as string
        for (const channel of ['h:{default}', 'h:default', 'mcp:x', 'b:{default}:write']) {
          await redisCommand(redisUrl, ['PUBLISH', channel, text])
          await redisCommand(redisUrl, ['SET', channel, text])
        }
        await pause(100)
      }
    }),
    share: 2,
  },
}

function ofBus(play: (scene: Scene) => Promise<void>): NodesFault {
  const bounds = { ...UNNOTICED, eventsMs: 2_500 }
  return { nodes: 2, share: 1, tailMs: 4_000, bounds, play: (scene) => play(scene).then(() => []) }
}

/** Sends one command and waits for its answer, whatever the answer is. */
async function redisCommand(url: string, words: readonly string[]): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await new Promise<void>((resolve) => {
    socket.once('data', () => resolve())
    socket.once('error', () => resolve())
    socket.write(`*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`)
  })
  socket.destroy()
}
