import { createRequire } from 'node:module'
import type { PageSvg } from '@docrelay/model/render/page-svg'
import { Resvg } from '@resvg/resvg-js'

/** Of one PNG; a page that would have more is scaled down to fit. [REST-34] */
export const MAX_PIXELS = 16_000_000

/** The rasteriser does not map generic families to fonts given as files, so the drawing gets their names. */
const FAMILIES = { 'sans-serif': 'DejaVu Sans', serif: 'DejaVu Serif', monospace: 'DejaVu Sans Mono' }
const FONTS = ['DejaVuSans', 'DejaVuSerif', 'DejaVuSansMono']
const resolve = createRequire(import.meta.url).resolve
/** Scripts that the fonts at hand lack; text in them is drawn with fonts of the machine, where it has any. */
const OTHER_SCRIPTS = /[\u0900-\u0e0d\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]|[\u{1f000}-\u{3ffff}]/u

/** The pixels of a drawing at a scale: whole numbers, at least 1, in all at most `MAX_PIXELS`. Pure. */
export function pixelSize(
  { width, height }: Pick<PageSvg, 'width' | 'height'>,
  scale: number,
): { width: number; height: number } {
  const fit = Math.min(scale, Math.sqrt(MAX_PIXELS / (width * height)))
  const across = Math.min(Math.max(1, Math.floor(width * fit)), MAX_PIXELS)
  return { width: across, height: Math.min(Math.max(1, Math.floor(height * fit)), Math.floor(MAX_PIXELS / across)) }
}

/** PNG bytes of a drawing, with the fonts that come along, so that they are the same on every machine. */
export function rasterise(drawn: PageSvg, scale: number): Uint8Array {
  const { width, height } = pixelSize(drawn, scale)
  // The picture is drawn into exactly these pixels; a sliver of a page keeps its shape only as far as pixels can.
  const sized = drawn.svg
    .replace(/width="[^"]*" height="[^"]*"/, `width="${width}" height="${height}" preserveAspectRatio="none"`)
    .replace(/(?<=<text font-family=")[a-z-]+/g, (family) => FAMILIES[family as keyof typeof FAMILIES])
  const image = new Resvg(sized, {
    font: {
      loadSystemFonts: OTHER_SCRIPTS.test(drawn.svg),
      fontFiles: FONTS.map((name) => resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`)),
      defaultFontFamily: FAMILIES['sans-serif'],
    },
  })
  return image.render().asPng()
}
