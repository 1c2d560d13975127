import { awarenessFrame, syncFrame } from '@docrelay/protocol/codec'
import { SYNC } from '@docrelay/protocol/frames'
import * as Y from 'yjs'
import { nested, quadratic, UpdateWriter } from '../../sync/testing/update-writer.ts'

/**
 * The expected answer to an attack. `refused`: ERR_BAD_UPDATE each time, and 1003 after the third. `gap`: ERR_SYNC_GAP, and nothing is
 * stored. `accepted`: valid in a CRDT; the document must stay loadable. `nothing`: no error and no change of the document. `ended`: may be
 * accepted when it is fast enough, else the connection ends with 1003.
 */
export type Verdict = 'refused' | 'gap' | 'accepted' | 'nothing' | 'ended'

export interface Attack {
  readonly name: string
  readonly verdict: Verdict
  readonly sizes: readonly [number, number, number]
  /** Complete frames, beginning with the tag. */
  frames(size: number): readonly Uint8Array[]
  /** The content of the document before the attack. */
  readonly before?: Uint8Array
}

const LARGE_TEXT = 250_000
const EMPTY_VECTOR = Uint8Array.of(0)

const update = (bytes: Uint8Array): Uint8Array => syncFrame(SYNC.update, bytes)
/** The same update three times: after three refusals the connection must end. */
const thrice = (bytes: Uint8Array): Uint8Array[] => [update(bytes), update(bytes), update(bytes)]
const block = (count: number, struct: (writer: UpdateWriter, i: number) => void): Uint8Array =>
  new UpdateWriter().block(9, 0, count, struct).deletes([])

const JSON_KINDS = ['any', 'embed', 'json', 'format'] as const

/** The attack classes of the reliability design, in the order of their numbers. */
export const ATTACKS: readonly Attack[] = [
  {
    name: 'Y1 clock overflow',
    verdict: 'refused',
    sizes: [1, 20, 2_000],
    frames: (n) => thrice(block(n, (w) => w.gc(2 ** 53 - 1))),
  },
  {
    name: 'Y2 structs declared, none there',
    verdict: 'refused',
    sizes: [1_000_001, 33_554_432, 2 ** 40],
    frames: (n) => thrice(new UpdateWriter().raw([1]).uint(n).uint(9).uint(0).bytes()),
  },
  ...JSON_KINDS.map(
    (kind): Attack => ({
      name: `Y3 ${kind} nested deep`,
      verdict: 'refused',
      sizes: [129, 1_000, 5_000],
      frames: (n) => thrice(nested(kind, n)),
    }),
  ),
  {
    name: 'Y3 awareness nested deep',
    verdict: 'nothing',
    sizes: [129, 1_000, 5_000],
    frames: (n) => [awareness([[900, '['.repeat(n) + ']'.repeat(n)]])],
  },
  {
    name: 'Y4 shared types nested deep',
    verdict: 'refused',
    sizes: [129, 500, 5_000],
    frames: (n) => thrice(block(n, (w, i) => (i === 0 ? w.type('any') : w.typeIn(9, i - 1)))),
  },
  {
    name: 'Y5 quadratic integration',
    verdict: 'ended',
    sizes: [2_000, 5_000, 20_000],
    frames: (n) => [update(quadratic(n))],
  },
  {
    name: 'Y6 many small clock gaps',
    verdict: 'gap',
    sizes: [10, 200, 4_000],
    frames(n) {
      const writer = new UpdateWriter().blocks(n)
      for (let i = 0; i < n; i++) writer.rawBlock(100 + i, 5, 1, (w) => w.gc(1))
      return [update(writer.deletes([]))]
    },
  },
  {
    name: 'Y7 large clock gaps',
    verdict: 'gap',
    sizes: [1, 8, 30],
    frames: (n) =>
      Array.from({ length: n }, (_, i) =>
        update(new UpdateWriter().block(70 + i, 5, 1, (w) => w.string('any', 'x'.repeat(LARGE_TEXT))).deletes([])),
      ),
  },
  {
    name: 'Y8 deletions of unknown content',
    verdict: 'gap',
    sizes: [1, 100, 60_000],
    frames: (n) => [update(new UpdateWriter().blocks(0).deletes(Array.from({ length: n }, (_, i) => [77, i * 2, 1] as const)))],
  },
  {
    name: 'Y9 root names',
    verdict: 'refused',
    sizes: [10_001, 15_000, 25_000],
    frames: (n) => thrice(block(n, (w, i) => w.string(`root${i}`, 'x'))),
  },
  {
    name: 'Y10 sub-documents',
    verdict: 'refused',
    sizes: [1, 100, 10_000],
    frames: (n) => thrice(block(n, (w) => w.subdocument('any'))),
  },
  { name: 'Y11 heap per byte: roots, types, keys', verdict: 'accepted', sizes: [10, 100, 1_000], frames: fillers },
  { name: 'Y11 the same near the bounds', verdict: 'ended', sizes: [3_000, 6_000, 9_900], frames: fillers },
  { name: 'Y12 client ids', verdict: 'accepted', sizes: [100, 5_000, 29_120], frames: (n) => [update(clients(n))] },
  { name: 'Y12 too many client ids', verdict: 'refused', sizes: [65_537, 70_000, 100_000], frames: (n) => thrice(clients(n)) },
  { name: 'Y13 second encoding', verdict: 'refused', sizes: [10, 1_000, 20_000], frames: (n) => thrice(secondEncoding(n)) },
  {
    name: 'Y13 run-length bomb',
    verdict: 'refused',
    sizes: [3, 7, 15],
    frames: (n) =>
      thrice(Uint8Array.of(0, 0, 6, 1, 1, 10, 0, 0, 4, 0, 0, 0, 0, 1, 0, 0, 255, 255, 255, 7 + 8 * n, 0, 1, 1, 0, 0)),
  },
  {
    name: 'Y14 good struct, broken delete set',
    verdict: 'refused',
    sizes: [1, 1_000, 100_000],
    frames: (n) =>
      thrice(
        new UpdateWriter()
          .block(9, 0, 1, (w) => w.string('any', 'x'.repeat(n)))
          .uint(1)
          .uint(9)
          .uint(5)
          .uint(0)
          .bytes(),
      ),
  },
  {
    name: 'Y15 __proto__ as a member',
    verdict: 'refused',
    sizes: [1, 100, 5_000],
    frames: (n) => thrice(block(n, (w) => w.anyObject('any', '__proto__'))),
  },
  {
    name: 'Y15 __proto__ as a map key',
    verdict: 'refused',
    sizes: [1, 100, 5_000],
    frames: (n) => thrice(block(n, (w, i) => w.entry('any', i === n - 1 ? '__proto__' : `k${i}`))),
  },
  {
    name: 'Y16 root used as another type',
    verdict: 'refused',
    sizes: [1, 100, 5_000],
    frames: (n) => thrice(block(n, (w) => w.string('prose:page', 'x'))),
  },
  { name: 'Y16 elements named script', verdict: 'accepted', sizes: [1, 50, 1_000], frames: (n) => [update(scripts(n))] },
  {
    name: 'Y17 origin is itself or later',
    verdict: 'refused',
    sizes: [1, 50, 5_000],
    frames: (n) => thrice(block(n, (w, i) => w.stringAfter(9, i, 'x'))),
  },
  {
    name: 'Y18 awareness of many clients',
    verdict: 'nothing',
    sizes: [100, 5_000, 20_000],
    frames: (n) => [awareness(Array.from({ length: n }, (_, i) => [1_000 + i, '{}'] as const))],
  },
  {
    name: 'Y19 whole state of 7 MB asked for',
    verdict: 'nothing',
    sizes: [1, 5, 15],
    frames: (n) => Array.from({ length: n }, () => syncFrame(SYNC.step1, EMPTY_VECTOR)),
    before: block(28, (w) => w.string('any', 'x'.repeat(LARGE_TEXT))),
  },
  {
    name: 'Y20 everything deleted',
    verdict: 'accepted',
    sizes: [1, 1_000, 100_000],
    frames: (n) => [update(new UpdateWriter().blocks(0).deletes([[9, 0, n]]))],
    before: block(1, (w) => w.string('any', 'x'.repeat(100_000))),
  },
  {
    name: 'Y21 other content under known clocks',
    verdict: 'nothing',
    sizes: [1, 1_000, 100_000],
    frames: (n) => [update(block(1, (w) => w.string('any', 'y'.repeat(n))))],
    before: block(1, (w) => w.string('any', 'x'.repeat(100_000))),
  },
]

function awareness(states: readonly (readonly [number, string])[]): Uint8Array {
  const writer = new UpdateWriter().uint(states.length)
  for (const [client, state] of states) writer.uint(client).uint(1).text(state)
  return awarenessFrame(writer.bytes())
}

/** Small structs of the kinds that take the most memory per byte. */
function fillers(count: number): Uint8Array[] {
  return [
    update(new UpdateWriter().block(71, 0, count, (w, i) => w.string(`r${i}`, 'x')).deletes([])),
    update(new UpdateWriter().block(72, 0, count, (w) => w.type('types')).deletes([])),
    update(new UpdateWriter().block(73, 0, count, (w, i) => w.entry('keys', `k${i}`)).deletes([])),
  ]
}

function clients(count: number): Uint8Array {
  const writer = new UpdateWriter().blocks(count)
  for (let i = 0; i < count; i++) writer.rawBlock(1_000 + i, 0, 1, (w) => w.gc(1))
  return writer.deletes([])
}

function secondEncoding(characters: number): Uint8Array {
  const doc = new Y.Doc()
  doc.getText('any').insert(0, 'x'.repeat(characters))
  return Y.encodeStateAsUpdateV2(doc)
}

function scripts(count: number): Uint8Array {
  const doc = new Y.Doc()
  const elements = Array.from({ length: count }, () => {
    const element = new Y.XmlElement('script')
    element.insert(0, [new Y.XmlText('alert(1)')])
    return element
  })
  doc.getXmlFragment('prose:page').insert(0, elements)
  return Y.encodeStateAsUpdate(doc)
}
