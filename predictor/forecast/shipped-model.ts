/** The model that the plugin ships, from predictor/models/built-in.json; made by `npm run ship-model`. */

import type { PackedModel } from './model-file.ts';

export const SHIPPED_MODEL: PackedModel = {
  name: 'leo-abr built-in 1',
  stepEndsSeconds: [1, 2, 4, 6, 8, 12, 18, 28, 48],
  levels: [0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97],
  rankCorrelation: 0.708,
  networks: [
    [
      {
        weights:
          'dsbUsskacpXqNWjsYYLXwW+fFAgUaZ3OXveZjaaZWWzfWgOb04hcni2LhfATagZaWNkzFcckiXeTiTmMhdVgilUhhembbamAftM+ami0qqVTsxuZatdSYob+znG+7UXlanaycpkTYWeKRrcboRfXnXgXcebnfiAfqfihjknqoQdQesXcaVqjmcE+pScfPkZnlAiJhigYwpZbdfOrfgqhXfcZXzXkPbskdaADDnzRfCQrMmZ6lblPyAAjcbqjmWgIddpaQnFaafmfkZciA1QanWhekbfmidbgjtYxZhaifjgKcQjRejiefhd+PbdUZhFkUAPqmbZnUsvjoXrgaaAaXoKWbgiiltbdqpgmnitgpvNXSvYOblyVj+TSkucru03p0wlljeooYgiPe3PTaTe3Yp+h1neZZkjloknagyYXok6hko+m2sgYykhVesvlmicZl+7SeZn0tsca+exxjdpqnfXYjAxlfrmopojZ8dm2TVAspWcjeFphb0dfU+VxmnbOtWNMnchQpehp5TSigAOUPrdQh8swefflc1nOoyZfLQn+xfcTjezcdiuulBnhonePbVjaodlfjkbLbhAehXZkcukYff8gb5bUHX8CoYlsYq7h+lfqUgdy3gYzAamcbgmmjojudOVV',
        scales: {
          unit: 0.000007432981,
          steps: 'phxMGBob/3+YB0YH7S3qIsUhWA+3Vk1VtRyHHLQjMRSXFIMVgxEVEwQbKRJwFCkasC1lFhwg',
        },
        biases: { unit: 0.00009190444, steps: 'asi8JJ0KaQPfIC4DcS9iGDAQ7PI673RXnQBNW9BU2hA+6bL0m+W2/HYIHQdzEwGA' },
      },
      {
        weights:
          'msYfBizXBmbQApyIafsiYeibfQacEgAXdhddeqadlAWlknYebTYcgaMNfdgcAnIq+lXnIckk10grOBLPofrqVYXdhOeOaONAqktaghUx0ZQaZARogSmbiqp3WArjRRdFtT4Ih5p0mQSsfqAtXxqeUQ0mcbAOqZRXx7AiKxmMFmGuH8MG10Q8SomSl+ycaUihG3DOiujJrCovi+QofqtX9lWljrYxPu+caVidlYjeNOcWAkKTZ9vfAZ+nqDrWSZXltAlGSvJ2mNhwFmTzgUsZa+gqnhWiWHZJbeaAxjIholnvplKWRYmcp3LzoNkawAlSiWL7DIvP2ZuRAIJnkebVfyfgeWkfAkYnlknsAXxTlkVfUTQZmYjh6gsuojGwhnsA',
        scales: { unit: 0.000001361015, steps: '8Cxse31WgXC+KTdNWi8cPks4ojtKFiowiDN+T0FswDM4LvctnEhALzYpRl3/fzoz' },
        biases: { unit: 0.00001064241, steps: '1TIUFAc24PccSblkVjr/f8RRWeXQ5oJpzLne1fEE0XE=' },
      },
      {
        weights:
          'CAFmNHXOTQjMcgaZYgZimflcgimnekegmpnieihnprjkkfpopclmdmoonokdlqpxrfd1xy5mkewrunshdrs1zqocqu41pxgpm0urkiqr+8oktnyy2gRromwzSYtdqzPGAkINSaMJkMPXbQOkLTWeTMkIUbkVQhNXemdWfQYiufaeVcgsjedYcjshhdWdmieji0x0Taej10zddhjv21RYjlwwzLXgnpt2KZjlpt0Ndkhvu0Xjphyw0htrgu2++34f0ph6x3jzeh4xxkrfk0xsjojmwsohkjlmokehjkkggefgekedegkjhihebjiwqrAuy6nxtE146vrrH+wsln3K5rmtkpLvziloxMwvdwwxVnpdr06asjol2schtO566nwrt6+6orws6z1psxo10wpsrozxrmpsqwslmlnkspgjlkmoolklnliqllmnmwysenkfyxtdlil0wvbdrq0xtahur613cimq+t0bnqqvt1ZqrxtsyZsutrxvZvuu820nrvl+yxownj2zwqujn6xwqroo9xrptrq1ysnvtp8wtmtro6uumutptsql0pscficVcgNehgdgmTYciiokNahemtuVehdsryTfkfs13Udgkt1ybmnhwy2lmfk15+umtdZpn+vnd0os4uql2om3rcqtfgxhUonZoymKmiZlaOGfVWq0lbjYbkncafYgsjmjWnqvgdjYmtncbkZpwqdbfavrtZgpb1qxfouitp0fquj0r0rnlisxwzjtk0p+8+7hxyw144i00v217j0vqx09gyspu25exyq533hwrnywwcpohx32apoisy0YnmaGDaIZklAFXGgsjCPjJnmhBWrRnleCZ4ejYcMptoaYTjnUmVYTqcUjZVRjWOiYTihqofqprknpdlpshqocntvjoockwzjijdl00chmaq05girau55ekqdz+7loqd179urmelvo8xie1pz4vee1y26wmkxzz+tgmvux2qjjxzv2poo0uwxjmrosyofgpuxs',
        scales: { unit: 9.501328e-7, steps: 'oECuG3FEmVGrVt8Z6ThpMK0zBGBZKXowAVubI/9/30E=' },
        biases: {
          unit: 0.00006315511,
          steps:
            'E6gvnA6Scv0BgGaCoIlFskemCpdt/VaOWou7kjezUqchl8P80JKgkc2YvLb0qhujwvpgmPaWlqEgtbquIKWh/mWYk5yNpPu1WatAoEIAnZzBnDKmcK4ZpqWe0/7bnMSdlacDs2ipDqGyADSay5tEqUKxcaNpnVn/U5ZqmbSm',
        },
      },
    ],
    [
      {
        weights:
          'dsWtqunauStfnhoYy+OQZTrrTLoociaacxq0Z+XKYKodWdWYtoGOmgkmfbhqHzQOYOkcZSs+tVdiZmJiimgV8rXWjaigAZdiHXUacknPaRVVNwt+oWd2rWehjRlkxrUcPUuAsgxgUdbifeWWjDf6pcH+32kLo2AzkiTZ6bgK+IaWlYXaweXibcMefXfgjoqppiLOarVmeggmfdAeZcsd8l30N1kRDaiRhWvuQqpiyccR+xLhoIV+wCA1CmwObrRqOhZ0ZtdVbaJiZRU6htmtaQmJsfiYWV+IbifeRbY5XSfdFAgltbcflofkQXBaynhhlrWtaabAbqlflPaZnjXn8ixj+rSsVQbLrw1RovlpRkXf+n1fffmeYZWZvouenlkhZhVjwfRQOZwHbPdZqx6H9+15atXcMwUQRemmfliXjptYn+orWrfNopJdcgMOiziTmsvSA1rmckASglfawqdkdsjPcnejbniegPIK7Ydy3+RisjpImqoUbOeYT+XYxzPqWxTaNJhDQkjWsidzkoPyoblikoA1TcXhcgWnfdejfzntUgOcs2AeqVkVRgXevmqYHgksJjtOZVIiemBW7ZqcN+ufdhMUa+SWeaFiOigPgXfvhadUzuxZAv2kmelnxZewIOuiKd+L',
        scales: {
          unit: 0.000005482312,
          steps: 'JynQHiku/39CDMkLmB+EJhAktynjVF42xx4BLFMX9CC3EtIgDxhWJyEYORK6IfMhrhy+HtMY',
        },
        biases: { unit: 0.00009621574, steps: 'PdT7J9kOW/uBIQsc1kABgMb3tAmwClMFiFW3cHFYuexF2+8NhAihD0PPSea/1LD0' },
      },
      {
        weights:
          'Ruphjq9+chshRiafaVeAgfgWuOvnCSQpOTSYnkk+dkfhuUDrhygHaKselQWaAcikkVqSNGN+MSisOjYzMbzbUSybuldgPg+QXpamqokX+SaQgxzHnYx+jooGPseYbrSTMayQifROHFAOPPlmtlXeaZovfxhblpT+gXlrbAblwNRykYxUyernWwTaArrhpgWUyskVpcRbDuAIQfxesWa71YNyVmkd+e8maecbc+9RmX3XhTYYbAfxxjfldgdWS4pPnhmXLXtRd+blXSyrbw4kUZGtPQJphU+fajQoeLWsnMoM+kI1gTZknftcSqgWumP+PtjpgXZukQgSs+5YXRYe3MiLWZip0+wjox1fqnVri+XmHbrLaf2enzGAuHnWbiog',
        scales: { unit: 9.591047e-7, steps: 'PkmCRlRIP2glQIU77VNGRVhBJlf/VAdVSVlwSv9/UDrIMtVj/VXkZAtIG0TmSV1Q' },
        biases: { unit: 0.000008945315, steps: 'aUYaLRIVBWc7auYoi5UF9V0suV2jFVflO15JZ/9/JXI=' },
      },
      {
        weights:
          '11viqol+6le3ql78hirolwpkjvlopuceousykqgnh3kcphmmphchgjptjeocs2p63se0vu3srhtyp+xrlxumryonijcylgjmoopkdflonwohgkhhzfZhkpawgdiiinnmexXfd+rrxgbiwnnvbai6qhskel4sqshbX3npqdaa4smmdbfusvladdqrwhgdZ1xzaoepnonYrqixgyYsliosnVqnmxuoVvmk10vUulh6vtRrqg+z0Uover6tYmlfYHRQAKviYYOHjliTWITezzgSEhi62yeIjwq7htPlpw7voZps3qkfWaqsvdeYpjpcIVgADGkaScHFTtiXZOYU4lbdPUQ3aXgPKdxcPeISarSPZNSdoecZPKgZcWXNPhIINdTchHKScQjcGLTccdZDIXdfaWAIWecZVAPRgaVUITKiTRRQQQjUTQTPWiMUUun0b71uo2mb1rshmndhqvpZnbvsykiibtlpknXlrlyySYtyzuuUAtum5QHKymrhSWSjIKKYSRjMFMYSNjHELVQCiIEMVLHjHDHSOPfBAHZcWfLKJfdWePKOUWPcXNK8+rZ14l2xrbklcrtpYwfgzvzZojh3zudiij6wofokaz1kjfhZ5xmkmYdgmSnhXckgYgiVObYWjgLGaTWlRDDeXWjKADfhUfNMJmiYgTMGocZfRNJbQPdHMJhWUfKMJYhZz5mmZPenuehLOfegphKgzfcPTOl1WkcZKmtaveRgZXqziOJENYOWJfZbZSPA61vcyyl+w0gxin3xvhqiqzutholpwqogjlmskiehionhdegflpgegijllffeihjiemHnuhllpInvugwnLu8fjf2RwpWnWyPxjogowRttmnv+Yxnmq21a4kt453avveXOEqbZfXVPqbfjdaaqbnqjdkrbnukgipfq3kojplt1tmjmqvyplmjts1vpljrx+jppRlqvahoV+pwllwd5qshztmtqqcr7utnpe08wlnfkwyrkopot0ojpnsntltq7',
        scales: { unit: 6.520099e-7, steps: 'uy5rPJ4xMD0FLhYy/3/yKUFWKykMV0lGBntgKrlT6Tc=' },
        biases: {
          unit: 0.00006247812,
          steps:
            'tKYjl6aNNgAcggGAooXEtnGnxJVK/5yM7Yr+lTi87ashmEH/b5NAkr2eH7qRs5yfJf7smQyjB6jYwr+3UqYl/w6hW6KvpkvARLNzpzn/R6jIps6sn7pQsKivtwD/qDmnOq7wwcm3X6/KA4CraqiGsAm8abFvrZQFCKHyoe2u',
        },
      },
    ],
  ],
};
