import { type Graph, type GraphEdge, type GraphNode, type Random, randomOf, shuffled, whole } from './graph.ts'

/** Pairs of node numbers. */
type Pairs = (readonly [number, number])[]

const FIRST = 'Order,Billing,User,Search,Inventory,Payment,Mail,Audit,Session,Catalogue,Report,Invoice,Image,Price,Stock'.split(
  ',',
)
const SECOND = 'service,API,queue,store,worker,cache,gateway,database,scheduler,topic,proxy,index'.split(',')

/** Labels as people write them: most have one or two words, some are a sentence. */
function labelOf(i: number, random: Random): string {
  const [a, b] = [FIRST[whole(random, FIRST.length)] as string, SECOND[whole(random, SECOND.length)] as string]
  const form = whole(random, 10)
  if (form < 3) return `${a} ${i}`
  if (form < 8) return `${a} ${b} ${i}`
  if (form === 8) return `${a} ${b} ${i} that keeps what the ${SECOND[i % SECOND.length]} needs`
  return `${a}${b.charAt(0).toUpperCase()}${b.slice(1)}Implementation${i}`
}

function graphOf(name: string, count: number, pairs: Pairs, seed = 1, direction: Graph['direction'] = 'TB'): Graph {
  const random = randomOf(seed * 7919 + count)
  const nodes = Array.from(
    { length: count },
    (_, i): GraphNode => ({
      id: `n${i}`,
      label: labelOf(i, random),
      ...(whole(random, 12) === 0 ? { kind: 'ellipse' as const } : {}),
    }),
  )
  const edges = pairs.map(
    ([from, to]): GraphEdge => ({
      from: `n${from}`,
      to: `n${to}`,
      ...(whole(random, 6) === 0 ? { label: 'calls' } : {}),
    }),
  )
  return { name, direction, nodes, edges }
}

export function chain(count: number): Graph {
  return graphOf(
    `chain ${count}`,
    count,
    Array.from({ length: count - 1 }, (_, i) => [i, i + 1] as const),
  )
}

export function star(leaves: number, way: 'out' | 'in'): Graph {
  const pairs = Array.from({ length: leaves }, (_, i) => (way === 'out' ? ([0, i + 1] as const) : ([i + 1, 0] as const)))
  return graphOf(`star ${way} ${leaves}`, leaves + 1, pairs)
}

/** A tree in which every node except the leaves has `width` children. */
export function fullTree(width: number, depth: number, direction: Graph['direction'] = 'TB'): Graph {
  let count = 0
  for (let level = 0; level <= depth; level++) count += width ** level
  const pairs = Array.from({ length: count - 1 }, (_, i) => [Math.floor(i / width), i + 1] as const)
  return graphOf(`tree ${width}^${depth}`, count, pairs, 1, direction)
}

/** A tree in which each node is a child of one of the nodes shortly before it. */
export function randomTree(count: number, seed: number, way: 'out' | 'in' = 'out'): Graph {
  const random = randomOf(seed)
  const pairs: Pairs = []
  for (let i = 1; i < count; i++) {
    const parent = Math.max(0, i - 1 - whole(random, Math.min(i, 8)))
    pairs.push(way === 'out' ? [parent, i] : [i, parent])
  }
  return graphOf(`random ${way}-tree ${count}`, count, pairs, seed)
}

export function caterpillar(spine: number, legs: number): Graph {
  const pairs: Pairs = []
  for (let i = 0; i + 1 < spine; i++) pairs.push([i, i + 1])
  for (let i = 0; i < spine * legs; i++) pairs.push([i % spine, spine + i])
  return graphOf(`caterpillar ${spine}x${legs}`, spine + spine * legs, pairs)
}

/** Diamonds one below another; each begins where the previous one ends. */
export function diamonds(count: number): Graph {
  const pairs: Pairs = []
  for (let i = 0; i < count; i++)
    for (const [from, to] of [
      [0, 1],
      [0, 2],
      [1, 3],
      [2, 3],
    ] as const)
      pairs.push([3 * i + from, 3 * i + to])
  return graphOf(`diamonds ${count}`, 3 * count + 1, pairs)
}

export function lattice(across: number, down: number): Graph {
  const pairs: Pairs = []
  for (let y = 0; y < down; y++)
    for (let x = 0; x < across; x++) {
      if (x + 1 < across) pairs.push([y * across + x, y * across + x + 1])
      if (y + 1 < down) pairs.push([y * across + x, (y + 1) * across + x])
    }
  return graphOf(`lattice ${across}x${down}`, across * down, pairs)
}

/** A connected graph without cycles: a random tree and additional random edges, all from lower to higher numbers. */
export function dag(count: number, edges: number, seed: number, direction: Graph['direction'] = 'TB'): Graph {
  const random = randomOf(seed)
  const pairs = connected(count, edges, random)
  return graphOf(`dag ${count}/${pairs.length} #${seed}`, count, pairs, seed, direction)
}

/** Like `dag`, but some of the additional edges lead back. */
export function cyclic(count: number, edges: number, seed: number, back = 0.25): Graph {
  const random = randomOf(seed)
  const pairs = connected(count, edges, random).map(([a, b], i): readonly [number, number] =>
    i >= count - 1 && random() < back ? [b, a] : [a, b],
  )
  return graphOf(`cyclic ${count}/${pairs.length} #${seed}`, count, pairs, seed)
}

function connected(count: number, edges: number, random: Random): Pairs {
  const pairs: Pairs = []
  const seen = new Set<string>()
  for (let i = 1; i < count; i++) {
    const from = Math.max(0, i - 1 - Math.floor(random() ** 2 * i))
    pairs.push([from, i])
    seen.add(`${from} ${i}`)
  }
  for (let tries = 0; pairs.length < edges && tries < 50 * edges; tries++) {
    const a = whole(random, count)
    // In real diagrams most edges are short; one in five goes anywhere.
    const b = random() < 0.2 ? whole(random, count) : a + 1 + whole(random, Math.max(4, Math.floor(count / 5)))
    const [from, to] = a < b ? [a, b] : [b, a]
    if (from === to || to >= count || seen.has(`${from} ${to}`)) continue
    seen.add(`${from} ${to}`)
    pairs.push([from, to])
  }
  return pairs
}

/** A pipeline: nodes in ranks, with edges from each rank to the next and a few to the rank after that. */
export function ranks(width: number, depth: number, perNode: number, seed: number, direction: Graph['direction'] = 'TB'): Graph {
  const random = randomOf(seed)
  const pairs: Pairs = []
  const seen = new Set<string>()
  for (let rank = 0; rank + 1 < depth; rank++)
    for (let i = 0; i < width * perNode; i++) {
      const from = rank * width + (i % width)
      const ahead = random() < 0.1 && rank + 2 < depth ? 2 : 1
      const near = Math.round((i % width) + (random() - 0.5) * 4)
      const to = (rank + ahead) * width + Math.min(Math.max(near, 0), width - 1)
      if (seen.has(`${from} ${to}`)) continue
      seen.add(`${from} ${to}`)
      pairs.push([from, to])
    }
  return graphOf(`ranks ${width}x${depth} #${seed}`, width * depth, pairs, seed, direction)
}

export function bipartite(above: number, below: number, share: number, seed: number): Graph {
  const random = randomOf(seed)
  const pairs: Pairs = []
  for (let a = 0; a < above; a++) for (let b = 0; b < below; b++) if (random() < share) pairs.push([a, above + b])
  return graphOf(`bipartite ${above}+${below}/${pairs.length}`, above + below, pairs, seed)
}

/** An edge for every pair of nodes, from the lower to the higher number. */
export function complete(count: number): Graph {
  const pairs: Pairs = []
  for (let a = 0; a < count; a++) for (let b = a + 1; b < count; b++) pairs.push([a, b])
  return graphOf(`complete ${count}`, count, pairs)
}

export function ring(count: number): Graph {
  return graphOf(
    `ring ${count}`,
    count,
    Array.from({ length: count }, (_, i) => [i, (i + 1) % count] as const),
  )
}

/** Clients and servers with requests and answers: every edge has one in the opposite direction. */
export function requests(clients: number, servers: number, seed: number): Graph {
  const random = randomOf(seed)
  const pairs: Pairs = []
  for (let c = 0; c < clients; c++) {
    const server = clients + whole(random, servers)
    pairs.push([c, server], [server, c])
  }
  for (let s = 1; s < servers; s++) pairs.push([clients + s - 1, clients + s])
  return graphOf(`requests ${clients}+${servers}`, clients + servers, pairs, seed)
}

/** A cyclic graph with loops and with several edges between the same two nodes. */
export function multigraph(count: number, edges: number, seed: number): Graph {
  const random = randomOf(seed)
  const pairs = connected(count, edges, random)
  for (let i = 0; i < count; i += 4) pairs.push([i, i])
  for (let i = 0; i < pairs.length; i += 5) pairs.push(pairs[i] as readonly [number, number])
  for (let i = 2; i < edges; i += 9) pairs.push([...(pairs[i] as readonly [number, number])].toReversed() as [number, number])
  return graphOf(`multigraph ${count}/${pairs.length}`, count, pairs, seed)
}

/** Unconnected parts of several kinds, with their nodes and edges mixed. */
export function disconnected(parts: readonly Graph[], seed: number): Graph {
  const random = randomOf(seed)
  const named = parts.map((part, i) => ({
    nodes: part.nodes.map((node) => ({ ...node, id: `p${i}-${node.id}` })),
    edges: part.edges.map((edge) => ({ ...edge, from: `p${i}-${edge.from}`, to: `p${i}-${edge.to}` })),
  }))
  const nodes = shuffled(
    named.flatMap((part) => part.nodes),
    random,
  )
  const edges = shuffled(
    named.flatMap((part) => part.edges),
    random,
  )
  return { name: `disconnected ${parts.length} parts/${nodes.length}`, direction: 'TB', nodes, edges }
}

/** The same graph with its nodes and edges in another order, as an agent may write them. */
export function mixed(graph: Graph, seed: number): Graph {
  const random = randomOf(seed)
  return {
    ...graph,
    name: `${graph.name}, mixed`,
    nodes: shuffled(graph.nodes, random),
    edges: shuffled(graph.edges, random),
  }
}
