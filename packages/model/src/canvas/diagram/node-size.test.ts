import { describe, expect, it } from 'vitest'
import { measureText } from '../text/measure-text.ts'
import { wrapLabel } from '../text/wrap-label.ts'
import { nodeSize } from './node-size.ts'

describe('the size of a node', () => {
  it('[DIAG-5] a node is 160 by 72 for a short label and for none', () => {
    expect(nodeSize('API', 'rectangle')).toEqual({ width: 160, height: 72 })
    expect(nodeSize('', 'rectangle')).toEqual({ width: 160, height: 72 })
  })

  it('[DIAG-5] a node is as wide as its line up to 296 px, then gets more lines; a longer word widens it up to 480 px', () => {
    const sentence = 'Keeps the orders of the last seven years and answers questions about them to the tax office, in any format'
    const { width, height } = nodeSize(sentence, 'rectangle')
    expect(width).toBeLessThanOrEqual(296 + 24)
    const lines = wrapLabel(sentence, { fontSizePx: 14, maxWidth: 296 })
    expect(height).toBe(Math.max(72, 2 * Math.ceil((lines.length * 17 + 24) / 2)))
    expect(nodeSize('x'.repeat(200), 'rectangle').width).toBeLessThanOrEqual(480)
    const word = 'Donaudampfschifffahrtsgesellschaftskapitän'
    expect(nodeSize(word, 'rectangle').width).toBe(2 * Math.ceil((measureText(word, 14) + 24) / 2))
  })

  it('[DIAG-5] an ellipse has room for the box of its label within the curve', () => {
    for (const label of ['Browser', 'A somewhat longer label of a node', '供应链管理系统与电子商务平台']) {
      const { width, height } = nodeSize(label, 'ellipse')
      const lines = wrapLabel(label, { fontSizePx: 14, maxWidth: 296 })
      const [w, h] = [Math.max(...lines.map((line) => measureText(line, 14))), lines.length * 17]
      expect((w / width) ** 2 + (h / height) ** 2).toBeLessThanOrEqual(1)
    }
  })
})
