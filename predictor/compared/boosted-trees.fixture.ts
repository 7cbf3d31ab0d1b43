/** For tests: small trees that predictor/training fitted to made-up rows, and what XGBoost computed for some of them. */

import { FEATURES } from '../link-history.ts';
import type { BoostedTreesFile } from './boosted-trees.ts';

export const TREES_FILE: BoostedTreesFile = {
  features: FEATURES.map(({ name }) => name),
  format: 'leo-abr boosted trees',
  version: 1,
  name: 'made up',
  stepEndsSeconds: [1, 2.5],
  levels: [0.1, 0.5, 0.9],
  rankCorrelation: 0.6,
  depth: 3,
  outputs: [
    {
      base: -0.9631015658378601,
      features: 'AQIBAAAECgEACgAWCgsBAAoTBg8KDg8OAQASAA==',
      thresholds:
        'oCfPv4Ue1T7rbHi/AACAfwAAgH8Ezpw+Q3rPPxjsub+9Obe/m5SzPwAAgH973lG/n6uVv+ynKD9nzwm/6b2tP5UExL/ao20/kN/kPrRYbL4oh3Y//4fCvwAAAAAolydAoCfPvwAAgH+BSM0/AACAfw==',
      leaves:
        'GMowvgAAAAAzAJk9AAAAAAMXiL264DQ90KQvPgXGH76aLAY9AAAAAKcN2Tw6i+y+zX9UvYfBvj1tur+9UA1uvhr2Wrwj7Y2+TSxRviev1zy7Npa+1IIhPk9HNz5nst67jZEjPnX+oL6Ny2E9AAAAAAdDXj1NgtS8ANVqvAAAAAA=',
    },
    {
      base: 0.004890307784080505,
      features: 'AQ8QDwoBAwEBBQIXBxABCgEAAwoKAQQBAgAZBQ==',
      thresholds:
        'N95Zvj+zoL/qFkU/ESy6v6nZ4z9RexY/bJ0Mv83WAz6+PYG/s1KTv8eV+T+4BpO+7vf+vuK3nj9nzwm/vwHUvxTmUD8AAIB/bJ0MvzyJVD9n05m/csmVv+QTC0D4QbY/x5X5PwAAgH/OdY08s1KTvw==',
      leaves:
        'Tw6XvosWrTwWRIC+/WijPGI5dj3ncIg+c9X8PTvvAb1Hlo++/Rh9PcPeSD0SJxO9u0znvao/Xj3qRNM94D9QvOVWtD0AAAAAJ/tWvaLJBb72mJE8sxiKvZdPKL1XBQM+zUsSvi82hr7Nklc7AAAAAPqZSbxTESA9bayXvTcUFT4=',
    },
    {
      base: 0.8124486804008484,
      features: 'AQoQChgWAAEKBhkACgkKBxMNDQAFAQEPCgIAAw==',
      thresholds:
        '+XakP9vWuD9Mngg9n6uVvzqqZr94bLa/rI0kP1F7Fj+fq5W/oFKCPwnHOT9nSA1AppcKv3ONQj+uA8Y/6oxjPyX2IL9EQ8i/NT+BPwAAgH+jFf0+q+PMP1F7Fj8kLhS+sYqpPyMWDT0AAIB/l6fivg==',
      leaves:
        's1JuPHQOCL7qmSQ/Z77JOjPZdLx4dCM+2nKRvEfTXz0NyUe+wNHlPe+5JL4AGHI6AOoPu10lxD1tm2I+Z+xKu3OUeT3wCGS9AO6NPPPBrD2Vdy8/AAAAAGfsq7zN0Ao7Q/mevc1QKjxnoqs8Zx6pvCfCbr0AAAAAzU5OvHer9z4=',
    },
    {
      base: -0.5822091102600098,
      features: 'AgEQAAMVBAITFAwCFQACFAcTEw4BAhkTFAkDCQ==',
      thresholds:
        'Egiov83WAz41fbM/hyRvv0lDYr/Jua6/HLGOv9k8Kb8I0nI/Di1aQIPyIz8SCKi/Z2PEvwAAgH8MxgE8wlWJP1P+7j/LTcA/fHouuzlB/T8WW6c9OPP5vp60Xb/yBiU+7wqtvma+jb/lLdY/c41CPw==',
      leaves:
        'ANM7vQ07hDyg9XE9N8pLvoM45b3354A951aivdJxkD6awJi76hXMvaB7fj01+AC+UIiJvdWCsj2tzkK9AAAAAJpNN7sK73W9hsYnvs0It7tR2cM9Vy9mvdEbQr7Ax88+i34wvoqXNT3nvQi+TTFiPHBdXz01Qvq959KiO22PE70=',
    },
    {
      base: 0.04191616177558899,
      features: 'Ag8OABYGAwIMBREADxkCChQXBgAAAgkJDAsVFQ==',
      thresholds:
        'h3/IvREsur+Ac/C+6b2tP4QjZD9voQVAhHZ5vopz7L5gd8k/fbhTv1bL0b9O3ns8ZSeEvyLWJj89TyI/kmEYPzBEpD24BpO+nysMv+owSL4AAIB/ibwKv3TcfT1Qoiw/700hPrwe2r/frFa6AAAAAA==',
      leaves:
        'XQeyPdskRLzRDwK+UoGxPUnRHj5XIwe902/XO3tuqz3v8sE9KtbxvQrez72LKg4+YYuqPTODO73FL5o982lSvQMexL0jf/y8kP1yPbXuJL03WJQ9g5dPveiZAz4AAAAAsrckPQBI1L2r/sa9ewm+vYvshT2nSI48fTEAvT8dmj0=',
    },
    {
      base: 0.6002113223075867,
      features: 'AhMMFgABGQIMCgsADgACAgAMBwAAABYKBg0ABg==',
      thresholds:
        'lOkoP/POAEDcJ6C/gGwHwD5PyL9X51S/l1y4vglbtD7iSAFAPIlUP51cgb8AAIB/MAI7vwAAgH/Hlfk/DMYBPAAAgH/iSAFApSzwPQAAgH8AAIB/jlwPP9frwr9vmyo+AOzcvl+1k7/TZBM/u9GWPw==',
      leaves:
        'OtrVPRJUuL3Pwzo+ROSSvpI4o74Iuko+/fGIPQAAAABtdxw9eKS2vU0xGj0AAAAAReY2PpOdmT1ns8W8AAAAAGzYpb3zB7k8wGE4PTMdAL2TfoE9AAAAAAAAAAAAAAAAUNm4vcA2aT0aQt08M8jNvMsbAD5tLAi9AOLGPK6QRj4=',
    },
  ],
};

export const GOLDEN: readonly { features: readonly number[]; logRatios: readonly number[] }[] = [
  {
    features: [
      0.345584, 0.821618, 0.330437, -1.303157, 0.905356, 0.446375, -0.536953, 0.581118, 0.364572, 0.294133, 0.028422,
      0.546713, -0.736454, -0.16291, -0.482119, 0.598846, 0.039722, -0.292457, -0.781908, -0.257192, 0.008142,
      -0.275603, 1.294064, 1.006724, -2.711163, -1.889013, -0.174772,
    ],
    logRatios: [-0.465186, 0.490181, 0.699039, -0.281941, 0.306868, 0.364629],
  },
  {
    features: [
      -0.723616, 1.068257, -1.298531, 0.276871, 0.525546, 1.245074, -0.155115, 0.848185, -0.0407, 1.560917, -0.664034,
      -0.560207, 0.373635, 1.649188, 0.230127, -0.057921, -0.651128, 1.022915, -0.719012, -0.276708, -0.311443,
      1.086608, -0.885232, -0.871899, 0.172871, 0.010352, -1.512038,
    ],
    logRatios: [-0.465186, 0.490181, 0.642664, -0.51292, -0.391733, 0.314927],
  },
  {
    features: [
      -0.576916, 0.438317, -0.152226, -1.185403, 0.565576, 2.129975, 0.117881, -0.183244, -0.835006, -0.150975,
      0.946173, -1.742126, 0.362538, -1.272236, 0.565887, 1.13202, -0.350381, -1.442596, -0.425432, 0.834819, -0.54351,
      -0.505227, -0.542506, 0.982018, 0.157547, 0.157819, -1.390339,
    ],
    logRatios: [-0.465186, 0.139812, 0.385419, -0.429931, 0.015315, 0.494437],
  },
];
