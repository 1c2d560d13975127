import { assert, type Members, most, type Stage, type Stored, type Task, untilTrue } from './stage.ts'

const C = { pageId: 'c' }
const box = (id: string, x: number, label = id): Members => ({ id, type: 'rectangle', x, y: 0, width: 160, height: 80, label })
const canvas = (...shapes: readonly Members[]): Members => ({ name: 'Drawing', pages: [{ id: 'c', name: 'Canvas', shapes }] })
const shapesOf = ({ pages }: Stored) => pages.find(({ id }) => id === 'c')?.shapes ?? []
const shapeOf = (stored: Stored, id: string): Members | undefined => shapesOf(stored).find((shape) => shape.id === id)

const edges = Array.from({ length: 11 }, (_, i) => ({ from: `n${Math.floor(i / 2)}`, to: `n${i + 1}` }))
const nodes = Array.from({ length: 12 }, (_, i) => ({ id: `n${i}`, label: `Part ${i}` }))

/** Changes a shape as the person's editor does: the whole value at once. */
function draw({ person }: Stage, id: string, patch: Members): void {
  const shapes = person.doc.getMap<Members>('shapes:c')
  shapes.set(id, { ...(shapes.get(id) as Members), ...patch })
}

async function stampOf({ agent }: Stage, id: string): Promise<string> {
  const { shape } = await agent.before('get_shape', { ...C, id })
  return `${id}#${String((shape as Members)['stamp'])}`
}

export const DRAWING: readonly Task[] = [
  {
    number: 17,
    name: "diagram of 12 nodes beside a person's drawing",
    most: most(1, 1.5, 2),
    document: canvas(box('mine', 0), box('yours', 300)),
    async play({ agent, stored }) {
      const before = shapesOf(await stored())
      const { layout } = await agent.call('generate_diagram', { ...C, nodes, edges })
      assert((layout as Members)['overlaps'] === 0, 'nothing overlaps')
      const now = await stored()
      for (const shape of before)
        assert(JSON.stringify(shapeOf(now, shape.id)) === JSON.stringify(shape), 'nothing of the person moved')
    },
  },
  {
    number: 18,
    name: 'relabel a box that a person drags',
    most: most(4, 0.6, 3),
    document: canvas(box('mine', 0)),
    async play(stage) {
      const { agent, onlooker, saved, stored } = stage
      // The agent has read the box before: the relay records who changes a document only for callers who know it.
      await agent.before('get_shape', { ...C, id: 'mine' })
      let x = 0
      const timer = setInterval(() => draw(stage, 'mine', { x: (x += 7) }), 30)
      // The drag has begun when the relay has passed some of it on, which takes longer than it on a busy machine.
      const seenX = () => onlooker.doc.getMap<Members>('shapes:c').get('mine')?.['x']
      await untilTrue(() => Number(seenX()) >= 3 * 7)
      const { warnings } = await agent.call('update_shape', { ...C, id: 'mine', patch: { text: 'New' } })
      await new Promise((resolve) => setTimeout(resolve, 100))
      clearInterval(timer)
      await saved()
      assert(/moves|drag/.test(JSON.stringify(warnings ?? [])), 'the answer warns that a person moves the box')
      for (let i = 0; shapeOf(await stored(), 'mine')?.['label'] !== 'New'; i++) {
        assert(i < 3, 'the label is new within three tries')
        await agent.call('update_shape', { ...C, id: 'mine', patch: { text: 'New' } })
      }
      assert(shapeOf(await stored(), 'mine')?.['x'] === x, "the place is the person's")
    },
  },
  {
    number: 19,
    name: 'delete a box by a stale stamp',
    most: most(2, 0.3, 1.5),
    document: canvas(box('mine', 0), box('other', 300)),
    async play(stage) {
      const { agent, saved, stored } = stage
      const stale = await stampOf(stage, 'mine')
      draw(stage, 'mine', { label: 'Renamed' })
      await saved()
      const { code, current } = await agent.refused('delete_shape', { ...C, id: stale })
      assert(code === 'ERR_SHAPE_CHANGED', `refused as changed: ${String(code)}`)
      assert(JSON.stringify(current).includes('Renamed'), 'the refusal shows the new label')
      await agent.call('delete_shape', { ...C, id: (current as Members)['id'] })
      assert(
        shapesOf(await stored())
          .map(({ id }) => id)
          .join() === 'other',
        'the box is gone',
      )
    },
  },
  {
    number: 20,
    name: 'add three boxes and connectors, then undo',
    most: most(2, 1, 1.5),
    document: canvas(box('mine', 0)),
    async play({ agent, stored }) {
      const before = JSON.stringify(shapesOf(await stored()))
      const added = ['a', 'b', 'c'].map((id, i) => ({ id, type: 'rectangle', x: 300 * (i + 1), y: 200, w: 160, h: 80, text: id }))
      const lines = [
        ['mine', 'a'],
        ['a', 'b'],
        ['b', 'c'],
      ].map(([startShapeId, endShapeId]) => ({ type: 'connector', startShapeId, endShapeId }))
      await agent.call('add_shapes', { ...C, shapes: [...added, ...lines] })
      assert(shapesOf(await stored()).length === 7, 'three boxes and three connectors are there')
      await agent.call('undo', { last: 1 })
      assert(JSON.stringify(shapesOf(await stored())) === before, 'the drawing is equal to before')
    },
  },
]
