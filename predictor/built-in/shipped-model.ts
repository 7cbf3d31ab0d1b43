/** The model that the plugin ships. */

import type { ModelFile } from './model-file.ts';

export const SHIPPED_MODEL: ModelFile = {
  format: 'leo-abr quantile networks',
  version: 1,
  name: 'svcA',
  features: [
    'level-0.4s',
    'level-2s',
    'level-8s',
    'level-120s',
    'lowest-10s',
    'lowest-40s',
    'highest-40s',
    'spread-15s',
    'spread-90s',
    'mean-90s',
    'silence',
    'unseen',
    'observed',
    'epoch-phase-0',
    'epoch-phase-1',
    'epoch-phase-2',
    'epoch-phase-3',
    'epoch-phase-4',
    'epoch-phase-5',
    'epoch-phase-6',
    'epoch-phase-7',
    'epoch-level',
    'epoch-observed',
    'epochs-mean',
    'epochs-spread',
    'epochs-count',
    'handover-known',
  ],
  stepEndsSeconds: [1, 2, 4, 6, 8, 12, 18, 28, 48],
  levels: [0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97],
  rankCorrelation: 0.7,
  networks: [
    [
      {
        weights:
          'BElgpwlP7zoOIuH3/M4UXhTY2LQcKSQ/gaXiLPsXar4XPRl/kqLX8Law5q4AKQH4501BoT7ZtqpVPL73Cj+VriXx4E+BG1MC4PL6Rbm//QX/LZ3cHRwoDCYgJAP5DCGg8+kC9/P8HhJhAPGDUyDICMkY+uQBCKQTLMKe8H/c7+yz/Pl/Ddcfm92b//jXVeg76cX1OxGiJxW9xglaqg+QI0bb5hIYEzzuGBgEFNr7sQzpvAUYCvi2fwvM0fnpE/kMNoEMx1Ds5/cvKOVCFyXqScz3As779QrOAxIR8QgkCvoY2tLFGbUkG9mBHPO1O+jgFyQG5EPSBNr5Dd4AAP816PEkGxb3IccCFIsV4UXv+ROqfxXvPQ636SIDBhXeHgjXgcquJQzxwAjlV08Xvwj4AtbHBr4GLa1NysoAFp3LrzYZu70OF62K5+UDVey2yAwOND+8Q7Ujgb4TBwbD5zIO3PYPB+zoBCMKAzCg2x76DfcHDVmS9fuBGwAk8RDpS/ULgvwEFivo/h7MAgCtPPLn84Hoxhm9FQAMBOujFakTvxgt1wVpsg8XWTMDzfwW43/zAvBMwBbfr+P85igrGykU9vdb+94VFsMtKDkaf2LwQSvTxh0M0C8TvAmyHkqlNSnpGf4II38PLynoxQvvLPYRF/mj5ybTaM0I7yDbJdUh/98gzADERUQ16eEn0jN52v4s7IGlBv85EtPvMylNuRUXEPAFTZlQM/Tz1aU5RVXq1BPNAxUZ8wQDGv+wJn/5Gtqw/OYcCB0AHPL2EvzHD/mBCfbvxfL9HgXs6v83HPI4Df/77keBHKQABBAHVRVEP64G2GDlOlne5iqipmj0IicxIhcHTlPMq5zPACjB4BX2ESbx+QzYHYE1NasDJPAyN8kVBtwIAt0O4xngE/cM6jjr/vrM2RUXL9H89/XX/vHagc/0AOTbwH/OZTX5zvG+/BE7IluqOd/E5cZDDCQL5tIZKcP7HbbMOuOWfUZOvuoi6lH1B9HwOqGb8+/bA+PyfwQX0KVNZx3yGOn+jg2zHU/yPdi+oRIwf9QWBG9h/c3IO++O+6WZ+TAO6SIxo+fx6+UBge/M2RcE2es/+N0a5RUZ0QwpDMAO6P4QxCTpFBQtKsf0j90jOjfo/BkwNOZ/+RUo',
        scales:
          'tNc8PORx+Ts5aaY85tZGPecGgDtNqac7+g+gPDN3fTwTAUI8vwMfPEdP+Tyo4fE86pcnPD7+Ljzf/wU8BNptPPP9OzwVOi088LqwPEw1HTxZHEk8TOZiPPSKOzwq+h884vw5PPBcTzw4KH88',
        biases:
          'uDL9P9E+fT/FtqO+P3J6P1QJqr+ffYU/AW5EPxsjP7+uXF4/dXdgPxpN7T4108c/6hv4v+4DOj5gZWM+PSmaPjaqNUCJP1y/YvpOPxBBmz4OT5I/6PdLvtgdwj5227E/YFNHvgBD87sYDM4//1YHvuoZtj+SXjm/Sg6KPog2ZDw=',
      },
      {
        weights:
          'UQzidwZ/DxTFiAHtQtixR6Pe/qvATDjx/WJANNQlf+uiwGOc4x/LSifOxpA4QtBw8yEO9s8Wr8cpLSyB8WzmYewHBY00NLafLzZ/lX0N2ipIQmzzPBSmMPGOMlOBNvsKsRM3pw3c7L4G7QgeyuIuEAkof/HX2RIyKCfl+c1VUwbq9M8DriNZDB0j6H+M1ye5DgPtL7Ie0YHcGdW4Mfnm7f7pHT1KGeIbZ+9WFGH99jfWi+2B1An8vQ/M4OfQLCuBA0cQIccpnS/af9834dwkgwvQJVz8nhkoAtII7yXGfgEsMaDkf63BLA4s57r31zrWVAZKzAUoNxD5RgjdDRDqyQ84HoEEUgn+5A/AvCHgMOhaJYEo+/ksB+IMFyg9swI647xLu/Pz4YHTVqc3NVPkIkb+5T3HAzsHwinlNkfVHYHVzW9C8DXzfxAkPEnirbIAKAgdsbUo1+4kzdiBD1rS9zk3xETuJR9k0QAPSyd/V8ELjogjBLj/zh45BtvyEfPtga5EpUBXzShmLXw5Gh3ZH/IU9yHwTBgPIVF/mBBaAcBv4b9IjowiKUPiCNxi4zGIH39hDfnyDezk0H+yEsRUVFFd4FyYUXSlGe8N+PUXF+Qc7hcquufmp+E6fzUbFA1TDjHDPbwTo4EbH7lHM8vcHStuKM8ELxH21hBWgTblFC8n0azYMRPy9qUSR0PONcvP39gA0Mz8U/EeF3/FF+nh63/kuRjr5+b3yiEcGvv1wx4cNAVNByul2ebaK5MmgbcN27f2T+8DxwkCT9DM5QqB5FP2/g517eDlGAPJ9VkH9H+5GujbvAngG6cN+/by8hwT/cav7kijxNX1HrseGzZLfw==',
        scales:
          'dwuKOwp3gzsY8IY7fHWHO8Q9gTtWcKo75YmKO8NErjvW4XA7TcuMOw5LfzvYslM72Q6OO3+0fDtMyYQ796PMO90/gzu5gnM7YCiRO8cLWzt+hYg70lx4O4eCfTvwbLQ719HAO6zNnTs/OZA7JuqEO4TeTzuX1Z47oFe3O1zAnjs=',
        biases:
          'Um7gviekRz6ME4M8jvwRPTr8Hj7ZATg+3cR7PAjHIr5fjJg+fRhbPhxElj374Qq8LAxIPvEpZj5mIuA97LOjvdbRZj4kfAE+lihnPpK/Kz0=',
      },
      {
        weights:
          'E/wL+hb28dgE/Pv/8cLXCQD94cvB1QgH+8DVxsnp7ePM3tzTxfDb6eHSzcD49Obw6cDK3wbm1faBw9kd0dzGFuHnyYjrFFYpGLvj8R1cJDa6JQ09dTks1DQUIn9DI+FAKD9LKSv1Di06SB3+ESL9UBoa6SYdFVAj/9Q28xYgttC3BIuu3u/TyfWb5vod8PjqvPrsI//S78MJITYK2/W6EyIY/+zj3BFPNwNU2eQGOjZDf9X8KycaS27REzgzUCYJ3T5PYxDv4ex/f0gmHBoCQllPDRnp+0hWdBTuDwsbNV0R8w3+ITxd9RDy70EzXDYgNfxGMUVbNAfwLE9abWQeJzVLSX9TNC5ZSUZxTxs/TjhDdyYCSi8vN2AdEEYeGTFMJgNABQw7YyH2Hfz3OWldIyMb7BlNVAoTHv4ffzFFGm9EKGliLBYGEk9ELhgDBTVkQTM59SYtWUVcK+5ERHpoQCf4VE1pak0/FlVkVD30/ws9a1dJAQQfSlhkF/K3Ac7tHif42gXb4iZB5sb94PY3IgTF+v38GhDJvxWk9Omvw6sIltTn27O7DoHo3+DktwGz89z1s4v10tn4xOURRjkzSukGEklRXkf3/SNFVXkvISU8RUtwWfkLJz5Gf1rkEwg2YF5cs+MXMEBrYIbNJidBe2EFGlgkPm17Pkoq2H9YMz80T+pqNys4NDj2Oy06HhdI9zUUHQkDOvAtHAwmBzDpGBUU/yo09A8FHPsGLfYQKD77GzvzFg0349vnFb/EuSP29BHI2MZVHAUEy9HPZC8S+ejQ4GZEH/7ez9VtMi8D08/ufGUs/dbazn9RPPe/19AvRiTv0sTwqqGBEquy1P/VwhG+4/oV3sUZ0/MYAeDRJeDxHBjfzSXkBRUhDeAk4AYeSh7QFekYJ0gf2BTtACQo8ccKBRNPh63UwQn/EIGi4rfgMvqat+ihFy/+ksMdrBcIG6TXOL0LDwmd/UTPEQ/+3FAk5BkB0QFMEd4Z+dk2HCDv+BQZdkJN40pYR11WNAFrOx89NC4ZfwzqRS48Nj8TAyMlQz8cGQceKTo7IxYOGigaNg8WJEEiEDcUGw8zDx8zLCslkYeBFdWp5ZOXiBTH0smrtrkLv9rS1tzSBNXb5eXW8BDL0OTDyPX84+Hf5/AVDhXe39noIwwJ9ecABCkY9ffmpYqb/J+lm7Wjk/2pm6yon4MDmpuvrJWGB4GYyLe1lf2fqdveyqwFoqrY9+amAq7AzN6ulP+oqtjXlYX+u7HXgb+y8sLRGYisueWoCx+Us8Hg5xHvmLTY6RP34pa4/A0D6dmw7QIp9dzZ2RnxGejn1N0OAgbg47oF+P8A6NnBf25UGQQSBmY/UxYBBP1lQU0ZEuviXkg8Gvvz6ls6ORUD+fBiTi4OCQXnRC4c8/z65kk3Mu8JA/4cJSLmEgUIf2RvtnZdHGNJK790RgJCJjLQMiDmEREg1B322AUEH9oD7r8dECDg8s2mFBjo7tbUoTPv3Pjn3LoH5tf2zqqeyuMKyO7t/vT8Tdz/ySLYEPPYMwg7TDsyz0FBNnZnL8VoNUZkcDLgf0o4dCNt+TV+TEJLMvAhFz8+KC39aDRizdXXAODU0MjH1ALVuLbO0cMA17Gt2M7FANSrlLi6tgO5k4mpsaMApZOMkZSl/ImRl7O+sf2QhYGpv7n7j4iS',
        scales:
          't3p9Oxdw1zpfPgE74fv3OswEHjsIXdw6ApQpO+FAIDt46iQ7uRRHO5b7ATvGsiw7hMoHO3xxLTsyQTg74h91O4RZMzvfkdY6ioWlOoN7gzs=',
        biases:
          'S+2zvwKFzb8xw+q/ccQbPWwH979zwfS/x7vuv+YGmb9VR62/FbvJvyqB8Ty7aN2/KaPYvyyu0L8LNpa/zMCrv6gBwr9UyJC7UOTSv1ncyr9TnLq/ycuXv5yVob+ahKy/KaRJvW8SwL9mO7i/3aOvvymVkL/wwpa/+vilv/x6sL0+erK/DE+qv8zHq79SG5C/TqKXv3DLob+1sSq9HzWmv4Suqr/vx6G/PmiSv6pnmr8mbZe/s1GFvH42o7/su6a/Oo+cv9Jej78ohpK/Ev6evxO1TbwTq6a/1FaovxY2l7+4PYq/mA6Uv10kjb/fWWa6j463v/7HsL8yyaO/',
      },
    ],
  ],
};
