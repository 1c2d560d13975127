import type { Graph, GraphEdge, GraphNode } from './graph.ts'

/** Reads a diagram from text. A node is a line `id = label` (`(label)` makes it an ellipse), an edge is a line `from -> to: label`. */
export function diagram(name: string, direction: Graph['direction'], text: string): Graph {
  const nodes: GraphNode[] = []
  const edges: GraphEdge[] = []
  for (const line of text.split('\n').map((raw) => raw.trim())) {
    const edge = /^(\S+) -> ([^\s:]+)(?:: (.+))?$/.exec(line)
    if (edge !== null) {
      const [, from, to, label] = edge as unknown as [string, string, string, string | undefined]
      edges.push({ from, to, ...(label === undefined ? {} : { label }) })
      continue
    }
    const node = /^(\S+) = (.+)$/.exec(line)
    if (node === null) continue
    const [, id, label] = node as unknown as [string, string, string]
    nodes.push(label.startsWith('(') ? { id, label: label.slice(1, -1), kind: 'ellipse' } : { id, label })
  }
  return { name, direction, nodes, edges }
}
