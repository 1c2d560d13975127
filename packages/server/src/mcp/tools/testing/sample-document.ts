/**
 * The document on which the examples of the tool rows succeed, and on which the calls in their `errors` are refused. It has the canvas pages
 * `c` and `c2`, the prose pages `p` and `q`, and ids that describe their purpose.
 */
export const SAMPLE_DOCUMENT = {
  name: 'Sample',
  pages: [
    {
      id: 'c',
      name: 'Canvas',
      shapes: [
        { id: 's1', type: 'rectangle', x: 0, y: 0, width: 100, height: 80, label: 'One' },
        { id: 's2', type: 'ellipse', x: 300, y: 0, radiusX: 50, radiusY: 40, label: 'Two' },
        { id: 's3', type: 'rectangle', x: 300, y: 200, width: 100, height: 80, label: 'Three' },
        {
          ...{ id: 'k1', type: 'connector', x: 50, y: 0, x2: 250, y2: 0, startShapeId: 's1', endShapeId: 's2' },
          ...{ startAnchor: 'right', endAnchor: 'left', routingMode: 'orthogonal', waypoints: [] },
        },
      ],
    },
    { id: 'c2', name: 'Canvas 2', shapes: [{ id: 'other', type: 'rectangle', x: 1, y: 2 }] },
  ],
  richTextPages: [
    {
      id: 'p',
      name: 'One',
      order: 0,
      content: [
        '<h1 id="blk-h">Head</h1><p id="blk-a">Alpha</p><p id="blk-b">Same</p><p id="blk-c">Same</p>',
        '<ul><li><p id="blk-i">Item</p><p id="blk-j">Second</p></li></ul>',
        '<table><tr><td><p id="blk-t">a</p></td><td rowspan="2"><p>b</p></td><td><p>c</p></td></tr><tr><td><p>d</p></td><td><p>e</p></td></tr></table>',
        '<table><tr><td><p id="blk-s">x</p></td></tr></table>',
        '<table><tr><td><p>1</p></td><td><p>2</p></td></tr><tr><td><p>3</p></td><td><p>4</p></td></tr></table>',
        '<h2 id="blk-k">More</h2><p><span data-field="" data-name="client">Ada</span></p>',
        '<p id="blk-x">One id</p><p id="blk-x">on two blocks</p>',
      ].join(''),
    },
    { id: 'q', name: 'Two', order: 1, content: '<p id="blk-q">Other <span data-citation="" data-ref-id="cited"></span></p>' },
  ],
  references: {
    items: {
      knuth: { id: 'knuth', type: 'book', title: 'The Art of Computer Programming' },
      cited: { id: 'cited', type: 'article-journal', DOI: '10.1000/1' },
    },
    itemOrder: ['knuth', 'cited'],
  },
  fields: { fields: { client: { name: 'client', value: 'Ada' } }, order: ['client'] },
} as const
