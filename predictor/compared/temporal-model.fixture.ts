/** For tests: small networks that predictor/training fitted to sessions on synthetic links, and what it computed for some moments. */

import { FEATURES } from '../link-history.ts';
import type { TemporalModelFile } from './temporal-model.ts';

export const TEMPORAL_FILE: TemporalModelFile = {
  features: FEATURES.map(({ name }) => name),
  format: 'leo-abr temporal network (sessions)',
  version: 1,
  name: 'made up',
  stepEndsSeconds: [1, 4, 48],
  levels: [0.1, 0.5, 0.9],
  rankCorrelation: 0.6,
  widths: [4, 4, 4],
  channels: ['ratio', 'seen', 'age', 'epoch-sine', 'epoch-cosine', 'this-epoch'],
  moment: ['observed', 'level-120s', 'level-0.4s', 'level-2s', 'silence', 'unseen', 'now-sine', 'now-cosine'],
  networks: [
    [
      {
        weights:
          'vAPJPXxAk738G5o+Ba11vnhdnj7XRBs+ymHsvb61MD7LElw9PWlGOgU2Lz3n6Bk+GduDvrkNib2UVBw9rC8qPpZXyjyQTtQ9CtHRvEtecb7leGo+84oOPFlizz6+9ZI+vSgrvw9c577ptri9KlpzvjQlGz4q8ao9kMIHPx0dm77nBGQ9/wMJP8FXKz7Pcbw+JgIWPqPOAb+hVpE+q0aePenXXL4k6Ae+yTAavVX3Zr4+RKO9sqr1vbR43j1lyau8xVl7Pkj2Gz0f7jk+/okZvtAPIT7CTCM+tF80Pwpv6r4LlS0/ZQ/+OWIwXb5R2l69sAdZvY+ZgD2fo6e+TbOOvjf8Urz+B0A9ee4wPk8Byr3Vt6S+iRUBPieDhT7GzVg+',
        biases: '4NcqPpIY4D2K0bI9',
      },
      {
        weights:
          'f4GJvlHBgD63Pxc+PddFPlubpT1ScYy+3/4+PQ1VkT6eaJo+rvGtPFvDjr40c9O+Dg+5Pq3Stz51U5a9S7ohvufV0T1L4rI9VTtbPpghgj6iHik9Mi0zvqWJwj5CpHe/AWFIPacBhz7vMOe+PMmJvUUnWb5TqJ89GOUqPg93uz5eoNM+b7Z6PcUtk760TyK/GsHaPjtX+T3LHL2+NWrPPgWzAj6xIYI+kvnDPuLEg767LAG/UjbjPf/HIr9lGog+',
        biases: '50GJPXDPiT2Gc1m8WYWTvQ==',
      },
      {
        weights:
          'gHkkPlsPI7/yAI2/fto7PXNeBD+RTfu+QYRzv46JgT7BpBS+uNCKvmSlmr5QpiE+eCIfPoBEDL6J2s2+H3hDvAgp6r5KJbK+sb+OvrAFub6bzB07l/O/Pl9ZxL4LNk48NLBEPkrPqr4fNQS/1ZtzPvfvJj3oONe+jvyFvq3tYLzTfJ++E7ZDuvho4r4RrqE+GZ0uPfKtH765qKa/QSnCPunI0j5Luga/l085v8gwwj6bEe89ZL2QvddPzT1vdK0+VGyLvsAAL754trm+tk43PmUVMb7I/xo+b5FEvxxzUz2Dlb272a/KvieBBb5stts+Hc1BP6Izh71DXBK/x3tlPw==',
        biases: 'rI22vcjVub2nbmW+lpBhPQ==',
      },
      {
        weights:
          'CIMJv/Kl9L1cS4i/ZjILPgQyjb6nACY/Y5qIvkFwkT+wrIY+c81zv4mNIz9pNye/1OyePzm/or0grAw++gGUv5TIAj8N6sW9unjfvioPmD2GmAa/bsOAvV6EQb+Mpxg/pdNvvo9udz1BR+c9E20YvlrUNz5bzMw9O9ghv22QW7+2ggi/I3QFvxI5Or99xbi+zJ5rvqqgGD0yhc2+J/StvilcQD4RKQA+M906v+eG0z40iRU9awkUv3UD+D2KJfW9sEAqvvXPb79BaOg9yDoovdxxxL59Lhc9MI5OPZOpr77H17M9v9cEPj8iPT6+B8a+',
        biases: 'MI2BvhVVGD6xM5S+3dBvvCtwYT0=',
      },
      {
        weights:
          'fE9zPo+YMr/n4r2+Gaw7vnYFI78KmJ+9t9HwvsU1hb4OR/C+bsdOPuOlsr74QoQ+oNmYPmQde76K7BA/+RmEPutqFz7hhbo+YGTgPfz+AL+p0A28XWTVvmhv1742XdG8VJjYvj8bab6mSc++7qxpPudUkb4ilaM+QhNxPoYqg74INys+6h4WP7HlQb6WvwE+hWdhPmVC5b4tDNI9fDsZPlBMwL5YJHY+H3X1vpvGmT24SiK+',
        biases: 'aV+qv0NzIz4r+re/NTaOv4/4DT4Rhaa/fm5ev/SeRj1ueqC/',
      },
    ],
    [
      {
        weights:
          'kVicvCinfj3Aoya+teptPlxrBj7rXIq9WXOVPI8GrDyoQwE87zaQvr8tfry/CiE+pJGlPqq6D77oGZm9E2wZvrQc/z2csCk91Wj8vo53Br+CS/K+mDaVPbg+uL2Bedq8JpI/vs6QqL0ZAsE+6h+APiB2Kz6+K7E+iXTSPqmfZL7/aDg+20ZcPiUVxj4ZqxC8cYMdPo0hK76bf4G+5FJavmj78z0G/um9wativeSywL7RRJK+rbLSPd84GL0M71u+RncDP4EQQj6Cm3q9NAIuvpzkND4mhO0924t2Pvpsnr7YG5q+yxaHvIJZcD3KZHW+6w7QvsQ+5DzQ8h+/fgi5PFlkQj4TDm++QGiYPhcSWLycRES+smuAPkgMOT77W3s8',
        biases: 'PB8/vRkDfz5LBsq9',
      },
      {
        weights:
          'QArIPr/CKD55Sxe+v1wMvtaL0D7dl+s8zf3ZvnaJBj4hfqk9VdwCvtcZQD0H90I9eF1LPqcgyT7/9Nk9PI01u5Iluj7LbSc9Q7FZPfOW1jwRGBG/coexvybGDD5SQGI+EXeovikfWT7DOgM+79S0voNZtz7C6BG9xIrCPniQRT1CCpK9ptuNv5mjw74i2d89fw8mv2/LDj/r8wY+iGbwPmj9Hj9YMcS9ZgSWvgN1BD8E3HY+TXMOv1W1vLrs7DY+',
        biases: 'LISKPoFdbjytMIA+Ch6RPg==',
      },
      {
        weights:
          'BVtNPseRQr7j4Ug+nV1ZPXPP4D7EzA8+IN3+vjngrz4pp4++Hb5nvkS61z5TMCi/fWN9PriNnT7KXF8+X4YDvvqMhTsggiM+Pn5Kvc0tJj0xg2y+DuGVvkGz+77XB6g9NZ/TvYrKpb5C07k+Iy/kPoyMIj7FJpO9a3mRvUOzED9GV+o+bs0eP83btT52+fm+iuFwPqwvh75Mafa+Lh6PPuJW/T6Oqu+8KCoPvW06vz0Oqrs+V+CHusfUnz3IB56+ZWexPnf17b387kA+xiflPSvVUb4GSzi/LXcDv0C8Hb9dlp0+WD4Nvjn7cz11NxY+nUK4voi0pj43/fs+/9JZPg==',
        biases: 'kIFMPr0T1Dt/6zs+c6QgPg==',
      },
      {
        weights:
          '54yDPVe/c77/zKk+WR2BPscYcT78fFY+r94iP1PBFT49LGo82hQUvkn+4b45j/8860DCPs8JLD/eW4m8vgZtO76xpDwFFs080gDKPrxYoz7Xbi89hikoPfrgub1KWd88GzqlPVVPXj5wtR4/Os6OPbOuaj+Ngq0+kWd4P3mymT9H14a/SNCPP9971r4hKOm+4gN4vt8Fqb6FJZ09rGEmv63b6z4Imdc+3BNsP0IEDD4ADbA+NA3jPv66yz3MSXa9h7EcPzBWdj4lnbS+TBujvRXfAj/wrrw+xbyWvn5XCj7PQ6U9a5a+vlPi4bkQ/Bo/',
        biases: 'fqRpvTmdoL2QYPI9TseLPmXAjD4=',
      },
      {
        weights:
          'WnYavgrwiz2H5Y09YjW7vC7VtLxorSE+NOPvPdlq6D23Zx4+7y7ivTfnjDxv0xk+6IEuvYv0Oz5rfDs95pMbvuLShj6pFT8+LW7jPuxGqb4Ypao9fne/PhDLbb5yNKE+WVXHPaPzyz2tLWQ+1PBKvlX4oT4ZMbO8tm6HPe6NVT7U6ro9DwuhPlPCyD3ZJZo+Z9TPPVkLZr6Tl6E+x81tPi8XUr7tQNM+s5DJPj2Lmjz9TNo9',
        biases: 'tTKwv84+qboKQr2/aE+cv5b/TD3Dbbm/EqmHv9H4V77gaa6/',
      },
    ],
  ],
};

/** Only the seconds that there were, the oldest first. A session's beginning, some of its way, two late moments; the last without the handover. */
export const GOLDEN: readonly { features: number[]; ratios: number[]; ages: number[]; logRatios: number[] }[] = [
  {
    features: [
      0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.2, 0.3, 0.0, 0.0, 0.0, 0.029134, 0.567509, 0.432491, 0.0, 0.0, 0.0, 0.0, 0.0,
      0.0, 0.0, 0.029134, 0.0, 0.3, 0.0, 1.0,
    ],
    ratios: [],
    ages: [],
    logRatios: [-0.225733, 0.030628, 0.294726, -0.352314, 0.035776, 0.397233, -0.446845, 0.082781, 0.45112],
  },
  {
    features: [
      0.084771, 0.048863, 0.019333, -0.007041, -0.134652, -0.504509, 0.148861, 0.067347, 0.15482, -0.023391, 0.0,
      0.013731, 1.557904, 0.0, 0.0, 0.0, 0.0, 0.002773, 0.997227, 0.0, 0.0, 0.014821, 1.087376, -0.067466, 0.111951,
      0.375, 1.0,
    ],
    ratios: [
      -0.160496, -0.292864, -0.504509, 0.097352, 0.144733, 0.148861, 0.115629, -0.106132, -0.051614, 0.018762, 0.051561,
      -0.027754, 0.065624, -0.134652, -0.059823, 0.065555, 0.007889, 0.076384, 0.065114, 0.012561,
    ],
    ages: [
      45.354923, 41.054924, 37.354923, 33.354923, 32.354923, 28.454926, 24.554924, 20.754925, 17.154924, 16.154924,
      15.154924, 12.654924, 11.654924, 8.854925, 7.854925, 6.854925, 5.154925, 4.154925, 3.154925, 0.854925,
    ],
    logRatios: [-0.155553, 0.095751, 0.348768, -0.274497, 0.086106, 0.384559, -0.517121, -0.008426, 0.327239],
  },
  {
    features: [
      -0.581504, -0.188786, -0.155544, 0.10955, -0.657286, -0.866439, 0.217581, 0.330064, 0.317642, 0.056501, 0.0, 0.0,
      2.285743, 0.905088, 0.094912, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.126892, 0.220198, 0.75, 1.0,
    ],
    ratios: [
      0.106232, 0.284052, 0.047591, 0.174146, 0.371597, 0.389475, 0.322257, 0.415537, 0.207591, 0.294743, 0.405071,
      0.393583, 0.423924, 0.442889, 0.474697, 0.321502, 0.309223, 0.284485, 0.199057, 0.12929, 0.442823, 0.338965,
      0.216836, 0.197225, 0.37953, 0.36298, -0.010901, 0.128856, 0.358703, 0.187278, 0.191834, 0.217581, 0.081912,
      0.132481, 0.133486, -0.007878, 0.13893, -0.033097, 0.000727, 0.215692, -0.09676, -0.078613, -0.055699, 0.111476,
      -0.135872, -0.538149, -0.364267, -0.168672, -0.372705, -0.745529, -0.795609, -0.866439, -0.422928, -0.134965,
      7.3e-5, -0.182891, -0.05031, -0.227672, -0.231939, -0.379006, 0.154549, 0.137483, 0.046889, -0.657286,
    ],
    ages: [
      87.099998, 86.099998, 85.099998, 83.300003, 82.300003, 81.300003, 78.699997, 77.699997, 75.099998, 74.099998,
      71.300003, 70.300003, 69.300003, 66.400002, 65.400002, 62.5, 61.5, 58.700001, 57.700001, 55.200001, 54.200001,
      51.099998, 50.099998, 49.099998, 46.900002, 45.900002, 43.099998, 42.099998, 41.099998, 39.0, 38.0, 37.0,
      34.599998, 33.599998, 31.200001, 30.200001, 29.200001, 28.200001, 26.799999, 25.799999, 24.799999, 23.200001,
      22.200001, 21.200001, 20.200001, 18.4, 17.4, 16.4, 15.4, 14.4, 13.3, 12.3, 11.3, 10.3, 9.3, 8.2, 7.2, 6.2, 5.2,
      4.2, 3.1, 2.1, 1.0, 0.0,
    ],
    logRatios: [-0.781486, -0.436515, -0.039029, -0.844991, -0.330642, 0.159114, -0.85268, -0.039481, 0.375974],
  },
  {
    features: [
      0.311101, 0.148423, 0.038548, -0.056163, -0.577467, -0.577467, 0.52471, 0.266356, 1.040588, -0.428382, 0.0, 0.0,
      2.397895, 0.474867, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.525133, -0.118654, 1.333614, -0.29273, 0.878284, 0.5, 1.0,
    ],
    ratios: [
      0.322882, 0.227966, 0.294803, 0.51929, 0.391509, 0.297419, -0.334316, -2.16186, -1.905868, -1.311624, -0.990398,
      -1.350779, -1.889563, -2.687044, -2.772607, -2.872031, -3.302311, -3.212591, -3.052155, -1.739006, -1.650467,
      -0.757252, -0.155035, -0.324319, -0.653448, -0.155918, 0.038739, 0.16903, 0.214299, -0.129036, -0.037663,
      0.472167, 0.274414, 0.385215, 0.252151, 0.110376, 0.106168, 0.34076, 0.342633, 0.360025, 0.226565, 0.074646,
      0.116893, 0.300343, 0.122408, 0.221199, 0.52471, 0.503494, 0.439619, 0.395245, 0.110291, -0.28805, -0.276456,
      -0.366092, -0.490869, -0.577467, -0.295314, 0.004905, -0.134687, 0.042387, 0.096356, -0.074545, -0.047419,
      0.280802,
    ],
    ages: [
      65.0, 64.0, 63.0, 61.900002, 60.799999, 59.799999, 58.700001, 57.700001, 56.700001, 55.700001, 54.700001,
      53.700001, 52.700001, 51.700001, 50.700001, 49.700001, 48.700001, 47.700001, 46.700001, 45.700001, 44.700001,
      43.599998, 42.599998, 41.599998, 40.5, 39.5, 38.5, 37.400002, 36.400002, 35.400002, 34.299999, 33.299999,
      32.200001, 31.200001, 30.1, 29.1, 28.1, 27.0, 26.0, 25.0, 24.0, 22.9, 21.9, 20.9, 19.799999, 18.799999, 17.799999,
      16.700001, 15.7, 14.7, 13.7, 12.6, 11.6, 10.6, 9.6, 8.6, 7.6, 6.5, 5.5, 4.5, 3.5, 2.4, 1.4, 0.4,
    ],
    logRatios: [-0.014449, 0.220555, 0.551817, -0.292284, 0.16236, 0.594462, -0.697781, 0.125143, 0.606727],
  },
  {
    features: [
      0.311101, 0.148423, 0.038548, -0.056163, -0.577467, -0.577467, 0.52471, 0.266356, 1.040588, -0.428382, 0.0, 0.0,
      2.397895, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0,
    ],
    ratios: [
      0.322882, 0.227966, 0.294803, 0.51929, 0.391509, 0.297419, -0.334316, -2.16186, -1.905868, -1.311624, -0.990398,
      -1.350779, -1.889563, -2.687044, -2.772607, -2.872031, -3.302311, -3.212591, -3.052155, -1.739006, -1.650467,
      -0.757252, -0.155035, -0.324319, -0.653448, -0.155918, 0.038739, 0.16903, 0.214299, -0.129036, -0.037663,
      0.472167, 0.274414, 0.385215, 0.252151, 0.110376, 0.106168, 0.34076, 0.342633, 0.360025, 0.226565, 0.074646,
      0.116893, 0.300343, 0.122408, 0.221199, 0.52471, 0.503494, 0.439619, 0.395245, 0.110291, -0.28805, -0.276456,
      -0.366092, -0.490869, -0.577467, -0.295314, 0.004905, -0.134687, 0.042387, 0.096356, -0.074545, -0.047419,
      0.280802,
    ],
    ages: [
      65.0, 64.0, 63.0, 61.900002, 60.799999, 59.799999, 58.700001, 57.700001, 56.700001, 55.700001, 54.700001,
      53.700001, 52.700001, 51.700001, 50.700001, 49.700001, 48.700001, 47.700001, 46.700001, 45.700001, 44.700001,
      43.599998, 42.599998, 41.599998, 40.5, 39.5, 38.5, 37.400002, 36.400002, 35.400002, 34.299999, 33.299999,
      32.200001, 31.200001, 30.1, 29.1, 28.1, 27.0, 26.0, 25.0, 24.0, 22.9, 21.9, 20.9, 19.799999, 18.799999, 17.799999,
      16.700001, 15.7, 14.7, 13.7, 12.6, 11.6, 10.6, 9.6, 8.6, 7.6, 6.5, 5.5, 4.5, 3.5, 2.4, 1.4, 0.4,
    ],
    logRatios: [0.025571, 0.263458, 0.552888, -0.210908, 0.212283, 0.572836, -0.591831, 0.101391, 0.543369],
  },
];
