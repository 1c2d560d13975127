import { describe, expect, it } from 'vitest'
import { nodeLinksContract } from '../node-links.contract.ts'
import type { NodeMessage } from '../node-links.port.ts'
import type { Incarnation } from '../ownership.port.ts'
import { createMemoryNetwork, type MemoryNode } from './memory-links.ts'

const note = (n: number): NodeMessage => ({ kind: 'note', n }) as NodeMessage

nodeLinksContract('in memory', async () => {
  const fullBytes = 1024 * 1024
  const network = createMemoryNetwork({ fullBytes })
  const [a, b] = [network.join(1), network.join(2)]
  network.cut(1, 2)
  let isHeld = false
  const pair = {
    a: { inc: 1, links: a },
    b: { inc: 2, links: b },
    link: async () => network.heal(1, 2),
    cut: async () => network.cut(1, 2),
    hold: () => {
      isHeld = true
    },
    release: () => {
      isHeld = false
    },
    async until(holds: () => boolean) {
      if (isHeld) network.deliver(2, 1)
      else network.deliverAll()
      if (!holds()) throw new Error('nothing is left to deliver, and the condition does not hold')
    },
    fullBytes,
    [Symbol.asyncDispose]: async () => undefined,
  }
  return pair
})

/** Returns a list that gets the events and messages of a node, in order. */
function heardBy(node: MemoryNode): unknown[] {
  const heard: unknown[] = []
  node.onUp((peer: Incarnation) => heard.push(`up ${peer}`))
  node.onDown((peer: Incarnation) => heard.push(`down ${peer}`))
  node.onMessage((peer, message) => heard.push([peer, (message as unknown as { n: number }).n]))
  return heard
}

describe('links in memory', () => {
  it('[LIFE-25] messages arrive only when the test delivers them, and in order', () => {
    const network = createMemoryNetwork()
    const [one, two] = [network.join(1), network.join(2)]
    const heard = heardBy(two)
    for (const n of [1, 2, 3]) one.post(2, note(n))
    expect([heard, network.waiting(1, 2)]).toEqual([[], 3])
    expect([network.deliver(1, 2, 1), heard]).toEqual([1, [[1, 1]]])
    expect([network.deliverAll(), heard]).toEqual([2, [[1, 1], [1, 2], [1, 3]]]) // biome-ignore format: one line each
  })

  it('[LIFE-25] a message over a cut link that the node still sees as up is lost, and the node hears `down` before `up`', () => {
    const network = createMemoryNetwork()
    const [one, two] = [network.join(1), network.join(2)]
    const [atOne, atTwo] = [heardBy(one), heardBy(two)]
    network.cut(1, 2, [1])
    expect([one.peers(), two.peers()]).toEqual([[2], []])
    one.post(2, note(1))
    network.heal(1, 2)
    network.deliverAll()
    expect([atOne, atTwo]).toEqual([
      ['down 2', 'up 2'],
      ['down 1', 'up 1'],
    ])
  })

  it('[LIFE-25] a paused node gets nothing, and notices cut links when it continues', () => {
    const network = createMemoryNetwork()
    const [one, two] = [network.join(1), network.join(2)]
    const atTwo = heardBy(two)
    one.post(2, note(1))
    network.pause(2)
    expect(network.deliverAll()).toBe(0)
    network.cut(1, 2)
    expect([one.peers(), two.peers()]).toEqual([[], [1]])
    network.resume(2)
    expect([atTwo, two.peers()]).toEqual([['down 1'], []])
  })

  it('[LIFE-25] a crashed node hears nothing more, and a node that does not notice the crash at once hears `down` later', () => {
    const network = createMemoryNetwork()
    const [one, two, three] = [network.join(1), network.join(2), network.join(3)]
    const heard = [one, two, three].map(heardBy)
    network.crash(1, [3])
    network.notice(3, 1)
    network.heal(1, 2)
    expect(heard).toEqual([[], ['down 1'], ['down 1']])
  })
})
