/** The names of CSS colours in lower case. `transparent` and `auto` are not in the list; `readShapeColour` checks them itself. */
const names: ReadonlySet<string> = new Set(
  [
    'aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood cadetblue',
    'chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray darkgreen darkgrey',
    'darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen darkslateblue darkslategray',
    'darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue firebrick floralwhite forestgreen',
    'fuchsia gainsboro ghostwhite gold goldenrod gray green greenyellow grey honeydew hotpink indianred indigo ivory khaki',
    'lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan lightgoldenrodyellow lightgray lightgreen',
    'lightgrey lightpink lightsalmon lightseagreen lightskyblue lightslategray lightslategrey lightsteelblue lightyellow lime',
    'limegreen linen magenta maroon mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen mediumslateblue',
    'mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive',
    'olivedrab orange orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum',
    'powderblue purple rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver',
    'skyblue slateblue slategray slategrey snow springgreen steelblue tan teal thistle tomato turquoise violet wheat white',
    'whitesmoke yellow yellowgreen',
  ].flatMap((line) => line.split(' ')),
)

const maxLength = 64
const hex = /^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i
const number = String.raw`[+-]?(?:\d+\.?\d*|\.\d+)`
const part = String.raw`(?:${number}%?|${number}(?:deg|rad|grad|turn))`
const functional = new RegExp(
  String.raw`^(?:rgb|hsl)a?\(\s*${part}(?:\s*,\s*${part}){2,3}\s*\)$|^(?:rgb|hsl)a?\(\s*${part}(?:\s+${part}){2}(?:\s*/\s*${part})?\s*\)$`,
  'i',
)

/** Reads a colour into its stored form: without spaces around it, and `auto` in lower case. Returns `null` for any other text. [CANVAS-6] */
export function readShapeColour(given: string): string | null {
  if (given.length > maxLength) return null
  const colour = given.trim()
  const lower = colour.toLowerCase()
  if (lower === 'auto') return lower
  return lower === 'transparent' || names.has(lower) || hex.test(colour) || functional.test(colour) ? colour : null
}
