import { readStoredBody } from '@docrelay/model/body-parse'
import { drawDiagram } from '@docrelay/model/canvas/generate/draw-diagram'
import type { GeneratedDiagram } from '@docrelay/model/canvas/generate/generate-diagram'
import type { ChangeSet } from '@docrelay/model/changes/change-set'
import { isRefusal } from '@docrelay/model/edit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { DocumentWrite } from '../../documents/document-store.port.ts'
import { sharedSignal } from '../../kernel/given-up.ts'
import { done, editIn, editRequest } from '../testing/room-editing.ts'
import { BODY, recording, RoomFixture, setShape, shapesOf } from '../testing/room-fixture.ts'
import { slowWorker } from '../testing/slow-worker.ts'
import { type TestClient, until } from '../testing/worker-harness.ts'

const STEADY = { saveIdleMs: 60_000, saveLatestMs: 60_000 }
const shape = (id: string, x: number) => ({ id, type: 'rectangle', x, y: 0, width: 100, height: 80 })
const PAGES = [
  { id: 'c1', name: 'Canvas', shapes: [shape('s0', 0), shape('s1', 200), shape('s2', 400)] },
  { id: 'c2', name: 'Other', shapes: [] },
]
const at = new RoomFixture(STEADY, { ...BODY, pages: PAGES })

const call = { pageId: 'c1', nodes: [{ id: 'one' }, { id: 'two' }], edges: [{ from: 'one', to: 'two' }] }
const drawn = drawDiagram(null, call)
if (isRefusal(drawn)) throw new Error(drawn.message)
const args = { ...call, drawn }
const beside = { ...call, near: 's1' }

type Doing = (ann: TestClient) => void

/** A worker with a document open for Ann. Each time that the planning of an edit serves others, Ann does the next one of `doings`. */
async function planning(...doings: readonly Doing[]) {
  let left: readonly Doing[] = []
  let person: TestClient | null = null
  const writes: DocumentWrite[] = []
  const storage = { ...at.storage, documents: recording(at.storage.documents, writes) }
  const slow = slowWorker(storage, STEADY, () => {
    const [next, ...others] = left
    left = others
    if (person !== null) next?.(person)
  })
  const { worker, edits } = slow
  const { head, room } = await at.openRoom(worker)
  const ann = await at.joined(room, {}, worker)
  const updates: Uint8Array[] = []
  ann.doc.on('update', (update: Uint8Array, origin: unknown) => origin === ann && updates.push(update))
  person = ann
  left = doings
  const edit = (given: Parameters<typeof editRequest<'generate_diagram'>>[2] = args) =>
    edits(() => editIn(worker, room, editRequest(head, 'generate_diagram', given)))
  const shapes = async () => {
    await at.settle(room, worker)
    return shapesOf(await at.body(head))
  }
  const settled = () => until(() => ann.settled === ann.ordinal)
  return {
    ...slow,
    head,
    room,
    ann,
    updates,
    writes: () => writes.filter(({ call: made }) => made !== undefined),
    edit,
    shapes,
    settled,
  }
}

const idsOf = ({ result }: { result: object }) => {
  const { nodes, edges } = result as GeneratedDiagram
  return [...Object.values(nodes), ...edges]
}

function draw(ann: TestClient): void {
  ann.doc.transact(() => {
    setShape(ann, 's0', shape('s0', -700))
    ann.doc.getMap('shapes:c1').delete('s1')
    setShape(ann, 'own', shape('own', 900))
    ann.doc.getArray('shapeOrder:c1').push(['own'])
    ;(ann.doc.getXmlFragment('prose:p1').get(0) as Y.XmlElement).insert(0, [new Y.XmlText('typed ')])
  }, 'ann')
}

/** Returns the shapes, their order and the text of the document, without the shapes named in `without`. */
function stateOf({ doc }: TestClient, without: ReadonlySet<string> = new Set()) {
  const shapes = [...doc.getMap('shapes:c1')].filter(([id]) => !without.has(id))
  return {
    shapes: new Map(shapes),
    order: doc.getArray('shapeOrder:c1').toArray(),
    text: doc.getXmlFragment('prose:p1').toString(),
  }
}

const id = fc.constantFrom('s0', 's1', 's2', 'own')
const doing: fc.Arbitrary<Doing> = fc.oneof(
  fc.tuple(id, fc.nat(900)).map(
    ([moved, x]): Doing =>
      (ann) =>
        ann.doc.getMap('shapes:c1').has(moved) && setShape(ann, moved, shape(moved, x)),
  ),
  id.map(
    (gone): Doing =>
      ({ doc }) =>
        doc.getMap('shapes:c1').delete(gone),
  ),
  fc.nat(2).map(
    (place): Doing =>
      (ann) =>
        ann.doc.transact(() => {
          setShape(ann, 'own', shape('own', 700))
          const order = ann.doc.getArray('shapeOrder:c1')
          if (!order.toArray().includes('own')) order.insert(Math.min(place, order.length), ['own'])
        }, 'ann'),
  ),
  fc.constant(({ doc }: TestClient) => {
    const order = doc.getArray('shapeOrder:c1')
    const bottom = order.toArray().slice(0, 1)
    doc.transact(() => (order.delete(0, bottom.length), order.push(bottom)), 'ann')
  }),
  fc.string({ minLength: 1, maxLength: 5 }).map(
    (words): Doing =>
      ({ doc }) => {
        ;(doc.getXmlFragment('prose:p1').get(0) as Y.XmlElement).insert(0, [new Y.XmlText(words)])
      },
  ),
)

describe('an edit that is planned while people change the document', () => {
  it('[CONC-14] [CONC-4] changes by people during planning are stored before the edit, which makes one version', async () => {
    const { worker, ann, edit, order, updates, writes, settled, shapes, head } = await planning(draw)
    await using _ = worker
    const outcome = done(await edit())
    await settled()
    await until(() => updates.length > 0)
    expect(order).toEqual(['an edit by a person is stored', 'the edit is stored'])
    expect([updates.length, writes().length, outcome.head.version]).toEqual([1, 1, head.version + 1])
    expect(await shapes()).toEqual(['s0', 's2', 'own', ...idsOf(outcome)])
    expect(ann.doc.getMap('shapes:c1').get('s0')).toMatchObject({ x: -700 })
    expect(ann.text()).toContain('typed')
    const stored = JSON.stringify(await at.body(head))
    expect(stored).toContain('typed')
    expect(stored).toContain('"x":-700')
  })

  it('[CONC-14] [AG-66] the record of a planned edit names only what the edit added, and one undo takes the edit back', async () => {
    const { worker, room, head, edit, writes, settled, shapes } = await planning(draw)
    await using _ = worker
    const outcome = done(await edit())
    await settled()
    const { callId, record, changed } = writes()[0]?.call ?? {}
    const set = JSON.parse(Buffer.from(record as Uint8Array).toString()) as ChangeSet
    const added = set.canvas?.pages?.flatMap(({ shapes: each = [] }) => each.map(({ id }) => id))
    expect([added, Object.keys(set), changed]).toEqual([idsOf(outcome), ['canvas'], 3])
    const targets = [{ callId: callId as string, record: JSON.stringify(set) }]
    const undone = done(await editIn(worker, room, editRequest(head, 'undo', { callId: callId as string, targets })))
    expect(undone.result).toMatchObject({ undone: [callId] })
    expect(await shapes()).toEqual(['s0', 's2', 'own'])
  })

  it('[CONC-14] [CONC-9] the size after a planned edit counts what people added while it was planned', async () => {
    const { worker, room, head, edit, writes, settled } = await planning((ann) => {
      setShape(ann, 's0', { ...shape('s0', 0), note: 'é'.repeat(3_000) })
    })
    await using _ = worker
    done(await edit())
    await settled()
    const { log } = writes()[0] as DocumentWrite
    const counted = log.kind === 'live' ? (log.bodyLater?.grownBytes ?? 0) : 0
    await at.settle(room, worker)
    const grown = (await at.headOf(head)).sizeBytes - head.sizeBytes
    // The saved body also contains the time and the author of the change, which `counted` leaves out.
    expect(counted).toBeGreaterThan(6_000)
    expect(Math.abs(grown - counted)).toBeLessThan(100)
  })

  it('[CONC-14] [CONC-10] an edit of a page that is deleted while it is planned is refused and adds nothing', async () => {
    const { worker, ann, edit, writes } = await planning(({ doc }) => {
      doc.getMap('canvasPages').delete('c1')
      doc.getArray('canvasPageOrder').delete(0)
    })
    await using _ = worker
    ann.doc.transact(() => {
      for (const { shapes: __, ...page } of PAGES) ann.doc.getMap('canvasPages').set(page.id, page)
      ann.doc.getArray('canvasPageOrder').push(['c1', 'c2'])
    }, 'ann')
    await until(() => ann.settled === ann.ordinal)
    expect(await edit()).toMatchObject({ kind: 'refused', code: 'ERR_PAGE_NOT_FOUND' })
    expect(writes()).toEqual([])
    expect([...ann.doc.getMap('shapes:c1').keys()].filter((id) => id.startsWith('shape-'))).toEqual([])
  })

  it('[CONC-14] [DIAG-10] a drawing goes below a shape that was moved to its place while the edit was planned', async () => {
    const { worker, edit, settled } = await planning((ann) => setShape(ann, 's0', { ...shape('s0', 0), y: 240 }))
    await using _ = worker
    const { bounds } = done(await edit()).result as GeneratedDiagram
    await settled()
    expect(bounds.y).toBe(240 + 40 + 120)
  })

  it('[CONC-14] [AG-106] a drawing beside a shape that moves while the edit is planned is outdated, as if the shape had moved before', async () => {
    const { worker, head, edit } = await planning((ann) => setShape(ann, 's1', { ...shape('s1', 200), y: 900 }))
    await using _ = worker
    const { body } = (await at.storage.documents.read(head)) as { body: Uint8Array }
    const near = drawDiagram(readStoredBody(body), beside)
    if (isRefusal(near)) throw new Error(near.message)
    expect(await edit({ ...beside, drawn: near })).toMatchObject({ kind: 'refused', code: 'OUTDATED' })
  })

  it('[CONC-14] [CONC-7] an edit that expects a version is refused when people change the document while it is planned', async () => {
    const { worker, room, head, edits, writes } = await planning(draw)
    await using _ = worker
    const request = editRequest(head, 'generate_diagram', args, { expectedVersion: head.version })
    const outcome = await edits(() => editIn(worker, room, request))
    expect(outcome).toMatchObject({ kind: 'refused', code: 'ERR_VERSION_CONFLICT' })
    expect(writes()).toEqual([])
  })

  it('[CONC-14] [MCP-15] nothing is written for a caller who gives up while the edit is planned', async () => {
    const caller = new AbortController()
    const { worker, room, head, edits, writes, settled, shapes } = await planning((ann) => {
      draw(ann)
      caller.abort()
    })
    await using _ = worker
    const request = editRequest(head, 'generate_diagram', args)
    const task = { kind: 'edit', request, givenUp: sharedSignal(caller.signal) } as const
    expect(await edits(() => worker.job(room, task))).toEqual({ kind: 'given-up' })
    await settled()
    expect([writes(), await shapes()]).toEqual([[], ['s0', 's2', 'own']])
  })

  it('[CONC-14] [CONC-8] no change that people make while an edit is planned is lost or undone, in 40 random schedules', async () => {
    const schedule = fc.asyncProperty(fc.array(doing, { maxLength: 5 }), async (doings) => {
      const { worker, ann, edit, updates, settled } = await planning(...doings)
      await using _ = worker
      const states: ReturnType<typeof stateOf>[] = []
      ann.doc.on('beforeTransaction', ({ origin }: Y.Transaction) => origin === ann && states.push(stateOf(ann)))
      const outcome = done(await edit())
      await settled()
      await until(() => updates.length > 0)
      const ids = idsOf(outcome)
      const { order, ...others } = stateOf(ann, new Set(ids))
      expect({ order: order.filter((id) => !ids.includes(id as string)), ...others }).toEqual(states.at(-1))
      expect(order.filter((id) => ids.includes(id as string))).toEqual(ids)
    })
    await fc.assert(schedule, { seed: 14, numRuns: 40 })
  })
})
